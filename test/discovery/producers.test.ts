import { createHmac } from 'node:crypto';
import t from 'tap';
import { isKnownType, samplePayload, sampleTypes } from '../../streams/events/index.js';
import { ratingOf } from '../../workers/reputation/index.js';
import { relay } from '../cli/terminal.js';
import { shell } from '../readme/blocks.js';
import { postEvent, startApp, webhookSecret } from '../support/app.js';
import { startNats } from '../support/nats.js';

interface Row {
  types: string[];
  fields: string[];
  required: string | undefined;
  channels: string[];
  line: string;
}

const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

/** The rows of the table of types. */
function rowsOf(guide: string): Row[] {
  const table = guide.slice(guide.indexOf('| types |')).split('\n\n')[0]!;
  const rows = table.split('\n').slice(2, -1);
  return rows.map((row) => {
    const [types = '', fields = '', channels = '', line = ''] = row.split(/(?<!\\)\|/).slice(1);
    return {
      types: names(types),
      fields: names(fields),
      required: /\*\*`(\w+)`\*\*/.exec(fields)?.[1],
      channels: channels
        .split(/, (?:opens|closes)/)[0]!
        .split(', ')
        .map((name) => names(name)[0]!),
      line: names(line.replaceAll('\\|', '|'))[0]!,
    };
  });
}

t.test('DISC-12 a rating counts for whom the guide says', async (t) => {
  const rated = (fields: object) =>
    ratingOf(
      {
        data: {
          event_id: 'e',
          event_type: 'rating.created',
          source: 's',
          target_channels: ['#task-a'],
          formatted_message: '',
          payload: { score: 5, ...fields },
        },
      },
      (text) => text,
    );
  t.match(rated({ publisher_nick: 'ann', worker_nick: 'bob' }), { from: 'ann', nick: 'bob' });
  t.match(rated({ from_nick: 'ann', to_nick: 'bob' }), { from: 'ann', nick: 'bob' });
  t.equal(rated({ worker_nick: 'bob' }), undefined);
  const both = { publisher_nick: 'ann', worker_nick: 'bob' };
  t.match(rated({ ...both, score: '4' }), { rating: 4 });
  for (const score of [true, [5], 'five', '']) t.equal(rated({ ...both, score }), undefined, String(score));
});

t.test('DISC-12 a service serves the guide, and does what it says', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,services,projections',
    IRC_URL: 'irc://127.0.0.1:1',
    EVENT_TTL_MS: '7200000',
    EVENT_MAX_RETRIES: '4',
    UNKNOWN_EVENTS: 'ignore',
    EM_WEBHOOK_SCHEMES: 'body,timestamped',
  });
  const answer = await fetch(`${url}/producers.md`);
  t.equal(answer.headers.get('content-type'), 'text/markdown; charset=utf-8');
  const guide = await answer.text();
  t.match(guide, 'after 4 failures');
  t.match(guide, 'After 2 hours');
  t.match(guide, '<timestamp>.<body>');
  t.match(guide, '| any other | none | nowhere: answered 200 `ignored` |');
  t.match(await (await fetch(url)).text(), '/producers.md', 'the page at the address names it');

  t.test('every type is there, and its line is what is shown', async (t) => {
    const rows = rowsOf(guide);
    t.same(rows.flatMap(({ types }) => types).sort(), [...sampleTypes].sort());
    t.ok(sampleTypes.every(isKnownType));
    for (const { types, line, channels, fields, required } of rows) {
      const [event_type = ''] = types;
      const payload = samplePayload(event_type, 'a1b2c3d4')!;
      const event = { event_id: `evt-${event_type}`, event_type, source: 'me', payload };
      t.match(await postEvent(url, event), {
        status: 202,
        body: { target_channels: channels, formatted_message: line },
      });
      for (const type of types) {
        const named = Object.fromEntries(
          fields.map((field) => [field, samplePayload(type, 'a1b2c3d4')![field]]),
        );
        const whole = await postEvent(url, {
          ...event,
          event_id: `only-${type}`,
          event_type: type,
          payload: named,
        });
        t.equal(whole.body.formatted_message, line, `${type} needs no other field`);
        if (required === undefined) continue;
        const others = { ...payload, id: undefined, [required]: undefined };
        const without = { ...event, event_id: `none-${type}`, event_type: type, payload: others };
        t.match(await postEvent(url, without), {
          status: 400,
          body: { details: [{ path: `payload.${required}` }] },
        });
      }
    }
  });

  t.test('the example works as it stands', async (t) => {
    const [, example = ''] = /```bash\n(.*?)```/s.exec(guide)!;
    const here = example.replaceAll(/http:\/\/[\w.]+:\d+/g, url);
    const { code, out, err } = await shell(here, { secret: webhookSecret });
    t.equal(code, 0, err);
    t.match(JSON.parse(out), { status: 'accepted', event_id: 'evt-of-mine' });
    const [, [, asking = ''] = []] = [...guide.matchAll(/```bash\n(.*?)```/gs)];
    const asked = await shell(asking.replaceAll(/http:\/\/[\w.]+:\d+/g, url), { secret: webhookSecret });
    t.match(JSON.parse(asked.out), { event_id: 'evt-of-mine', status: 'pending' });
  });

  t.test('each code of the table of answers is one of the receiver', async (t) => {
    const codes = new Set([...guide.matchAll(/^\| \d{3} `(\w+)` \|/gm)].map(([, code]) => code));
    t.ok(codes.size >= 10);
    const event = { event_id: 'evt-bad', event_type: 'task.expired', source: 'me', payload: {} };
    for (const headers of [
      { 'x-em-signature': '' },
      { 'x-em-timestamp': '' },
      { 'content-type': 'text/plain' },
      {},
    ]) {
      const { body } = await postEvent(url, event, { headers });
      t.ok(codes.has(String(body.code)), String(body.code));
    }
  });
});

t.test('HOOK-41 a service that takes signed timestamps alone says so everywhere', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,services,projections',
    IRC_URL: 'irc://127.0.0.1:1',
    EM_WEBHOOK_SCHEMES: 'timestamped',
  });
  const guide = await (await fetch(`${url}/producers.md`)).text();
  t.notMatch(guide, /sha256=|ISO 8601/);
  for (const [, example = ''] of [...guide.matchAll(/```bash\n(.*?)```/gs)]) {
    const here = example.replaceAll(/http:\/\/[\w.]+:\d+/g, url);
    const { out } = await shell(here, { secret: webhookSecret });
    t.match(JSON.parse(out), { event_id: 'evt-of-mine' });
  }
  const event = { event_id: 'evt-1', event_type: 'task.expired', source: 'me', payload: { id: 'a1' } };
  const body = JSON.stringify(event);
  const refused = async (headers: Record<string, string>) => {
    const answer = await postEvent(url, event, { headers });
    t.equal(answer.status, 401);
    return answer.body;
  };
  const env = { EM_WEBHOOK_SECRET: webhookSecret, EM_WEBHOOK_SCHEMES: 'timestamped' };
  t.match(await relay(['emit', 'task.expired', '--url', url], { env }), { code: 0 });
  t.match(await refused({}), { code: 'signature_invalid', hint: /a point and the bytes of the body/ });
  t.match(await refused({ 'x-em-signature': '' }), {
    code: 'signature_missing',
    hint: /a point and the body/,
  });
  const time = '2026-01-31T12:00:00';
  const hmac = createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex');
  t.match(await refused({ 'x-em-signature': hmac, 'x-em-timestamp': time }), {
    code: 'timestamp_invalid',
    error: 'X-EM-Timestamp is not a time in Unix seconds',
    hint: /1769860800/,
  });
});

import pino from 'pino';
import t from 'tap';
import { QueryFeed } from '../../src/operations/deliberation/feed.js';
import { getQueryResult } from '../../src/operations/deliberation/reads.js';
import { deliberation } from '../../streams/deliberation/index.js';
import { eventually } from '../support/eventually.js';
import { plainly, startProvider } from '../support/model-provider.js';
import { startNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';
import { history, queryId } from './history.js';
import {
  analyst,
  analystKey,
  behindStage,
  callsOf,
  deliberationStage,
  modelsFile,
  openLog,
  startArea,
} from './stage.js';

interface Event {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** A reader of server-sent events, as far as tests need one. */
async function read(t: Teardown, url: string, headers: Record<string, string> = analyst) {
  const aborted = new AbortController();
  t.teardown(() => aborted.abort());
  const response = await fetch(url, { headers, signal: aborted.signal });
  const reader = { status: response.status, headers: response.headers, events: [] as Event[], comments: 0 };
  let ended = false;
  void (async () => {
    let text = '';
    try {
      for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
        text += part;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          take(reader, text.slice(0, end));
          text = text.slice(end + 2);
        }
      }
    } catch {
      // aborted
    }
    ended = true;
  })();
  return Object.assign(reader, {
    close: () => aborted.abort(),
    until: (what: string, isThere: (events: Event[]) => boolean) =>
      eventually(what, () => isThere(reader.events)),
    ended: () => eventually('the stream to end', () => ended),
  });
}

function take(reader: { events: Event[]; comments: number }, block: string): void {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const [id, event, data] = [field('id'), field('event'), field('data')];
  if (id && event && data) reader.events.push({ id, event, data: JSON.parse(data) });
  else if (block.startsWith(':')) reader.comments += 1;
}

const names = (events: Event[]) =>
  events.map(({ event, data }) => (event === 'status' ? `status ${data.status}` : event));

t.test('BRAIN-17 a stream as things happen', async (t) => {
  const nats = await startNats(t);
  const provider = await startProvider(t);
  const MODELS = await modelsFile(t, provider.url);
  const one = await startArea(t, nats, { MODELS });
  const two = await startArea(t, nats, { MODELS, ROLES: 'api,projections' });
  const waiting = new Map<string, () => void>();
  provider.answer = (call, response) => {
    const name = call.isSynthesis ? 'synthesis' : `${call.model}`;
    waiting.set(name, () => {
      waiting.delete(name);
      plainly(call, response);
    });
  };
  const release = async (name: string) => {
    const answer = await eventually(`the call ${name}`, () => waiting.get(name));
    answer();
  };
  const id = await one.create({ models: ['one', 'two'] });
  const path = `/multibrain/query/${id}/stream`;
  const here = await read(t, one.url + path);
  const there = await read(t, two.url + path, {});
  t.equal(here.status, 200);
  t.match(here.headers.get('content-type'), /^text\/event-stream/);
  await release('two');
  await here.until('the first response', (events) => events.some(({ event }) => event === 'response'));
  t.same(names(here.events), ['status queued', 'status running', 'response']);
  t.match(here.events.at(-1)!.data, {
    model: 'two',
    round: 1,
    content: 'two says so',
    error: null,
    cost_usd: Number,
    timing_ms: Number,
    tokens: { in: 10, out: 5 },
    id: here.events.at(-1)!.id,
  });
  await there.until('the same in another process', (events) => events.length === here.events.length);
  there.close();
  await one.ask('POST', `/multibrain/query/${id}/inject`, { content: 'more' });
  await release('one');
  await release('synthesis');
  await here.ended();
  const all = [
    ...['status queued', 'status running', 'response', 'injected', 'response', 'status synthesizing'],
    ...['synthesis', 'status completed', 'done'],
  ];
  t.same(names(here.events), all);
  t.match(here.events[3]!.data, { content: 'more', by: 'analyst' });
  t.match(here.events[6]!.data, { consensus: 'agreed', agreement: 0.75, dissent: ['one differs'] });

  t.test('it goes on behind any event, at any process', async (t) => {
    for (const [index, { id: last }] of here.events.entries()) {
      const rest = await read(t, two.url + path, { 'last-event-id': last });
      if (index === here.events.length - 1) t.equal(rest.status, 204, 'there is nothing to come back for');
      await rest.ended();
      t.same(rest.events, here.events.slice(index + 1), last);
    }
    const empty = await read(t, `${one.url + path}?after=`, { 'last-event-id': '' });
    await empty.ended();
    t.same(empty.events, here.events);
    const byQuery = await read(t, `${one.url + path}?after=${here.events[6]!.id}`);
    await byQuery.ended();
    t.same(names(byQuery.events), ['status completed', 'done']);
  });

  t.test('a reader that comes again in the middle misses nothing', async (t) => {
    const second = await one.create({ models: ['one', 'two'] });
    const again = `/multibrain/query/${second}/stream`;
    const first = await read(t, one.url + again);
    await release('one');
    await first.until('a response', (events) => events.some(({ event }) => event === 'response'));
    first.close();
    await release('two');
    const next = await read(t, two.url + again, { 'last-event-id': first.events.at(-1)!.id });
    await release('synthesis');
    await next.ended();
    const together = [...first.events, ...next.events];
    t.same(
      names(together),
      all.filter((name) => name !== 'injected'),
    );
    t.equal(new Set(together.map(({ id }) => id)).size, together.length, 'nothing came twice');
  });
});

t.test('BRAIN-17 what is no id of an event is refused', async (t) => {
  const { ask, create } = await deliberationStage(t);
  const path = `/multibrain/query/${await create()}/stream`;
  const refused = (name: string) => ({
    status: 400,
    body: { code: 'validation_failed', details: [{ path: name }] },
  });
  for (const id of ['x', '12', '1-2-3', '-1-0', '1-1000', '9999999999999999-0'])
    t.match(
      await ask('GET', path, undefined, { ...analyst, 'last-event-id': id }),
      refused('last-event-id'),
      id,
    );
  for (const query of ['?after=x', '?after=1-0&after=2-0'])
    t.match(await ask('GET', path + query), refused('after'), query);
});

t.test('BRAIN-22 whose stream is done finds the result, also where the read model is behind', async (t) => {
  const { feed, append, holdUntilAskedFor, call } = await behindStage(t);
  const life = history(1);
  const result = () => call(getQueryResult, { id: queryId(1) }, { is: 'key', actor: 'ann' });
  await append(life.slice(0, 1));
  t.equal(getQueryResult.http?.status?.(await result()), 202);
  holdUntilAskedFor(life.length);
  await append(life.slice(1));
  const { signal } = new AbortController();
  const told: string[] = [];
  for await (const event of feed.watch(queryId(1), {
    after: undefined,
    reader: 'ann',
    quietMs: 1_000,
    signal,
  }))
    if (event) told.push(event.event);
  t.equal(told.at(-1), 'done');
  const ended = await result();
  t.equal(getQueryResult.http?.status?.(ended), 200);
  t.match(ended, { status: 'completed', consensus: 'because 1' });
});

t.test('BRAIN-17 the stream of a query that fails', async (t) => {
  const { provider, url, create } = await deliberationStage(t);
  provider.answer = (_call, response) => void response.writeHead(400).end();
  const id = await create();
  const reader = await read(t, `${url}/multibrain/query/${id}/stream`);
  await reader.ended();
  t.same(names(reader.events), [
    ...[
      'status queued',
      'status running',
      'response',
      'response',
      'response',
      'status failed',
      'error',
      'done',
    ],
  ]);
  t.match(reader.events[2]!.data, { content: null, error: 'model_refused' });
  t.match(reader.events[6]!.data, { code: 'too_few_answers', error: String });
  const rest = await read(t, `${url}/multibrain/query/${id}/stream`, {
    'last-event-id': reader.events[6]!.id,
  });
  await rest.ended();
  t.same(names(rest.events), ['done'], 'also between two events of one fact');
});

t.test('BRAIN-03 BRAIN-17 a query that becomes private ends the streams of others', async (t) => {
  const { provider, url, create, ask } = await deliberationStage(t);
  provider.answer = () => {};
  const id = await create();
  const path = `${url}/multibrain/query/${id}/stream`;
  const stranger = await read(t, path, {});
  const owner = await read(t, path, { authorization: `Bearer ${analystKey}` });
  await stranger.until('the start', (events) => events.length === 2);
  await ask('PATCH', `/multibrain/query/${id}/visibility`, { visibility: 'private' });
  await stranger.ended();
  t.equal((await callsOf(url).ask('GET', `/multibrain/query/${id}/stream`, undefined, {})).status, 404);
  await ask('POST', `/multibrain/query/${id}/inject`, { content: 'for us' });
  await owner.until('what comes after it', (events) => events.some(({ event }) => event === 'injected'));
  t.same(names(stranger.events), ['status queued', 'status running']);
});

t.test('BRAIN-17 silence is told', async (t) => {
  const log = await openLog(t, (await startNats(t)).url);
  const feed = new QueryFeed(log, pino({ level: 'silent' }));
  t.teardown(() => feed.close());
  const [created] = history(1);
  await log.append(deliberation, created!.subject, created!, { by: 'test' });
  const { signal } = new AbortController();
  const options = { after: undefined, reader: undefined, quietMs: 20, signal };
  const events = feed.watch(queryId(1), { ...options, reader: 'ann' });
  t.match((await events.next()).value, { id: '1-0', event: 'status' });
  for (let n = 0; n < 4; n++) t.equal((await events.next()).value, undefined);
  const waiting = events.next();
  feed.close();
  t.match(await waiting, { done: Boolean });
  await t.rejects(feed.watch(queryId(2), options).next(), { code: 'not_found' });
});

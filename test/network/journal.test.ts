import pino from 'pino';
import t from 'tap';
import { irc, ircSubject, type Sighting } from '../../streams/network/index.js';
import { Journal } from '../../workers/network/journal.js';
import { startNats } from '../support/nats.js';
import { openLog } from './stage.js';

t.test('what no fact takes does not hold up what comes behind it', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats.url);
  const said: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line) => said.push(line) });
  let skipped = 0;
  const observe = {
    recorded: () => {},
    skipped: (sightings: number) => {
      skipped += sightings;
    },
  };
  const journal = new Journal({ log, logger, observe, superseded: () => t.fail('nobody else records') });
  t.teardown(() => journal.stop());
  const recording = await journal.recording('#lobby');
  const line = (text: string, at: number): Sighting => ({ is: 'message', at, nick: 'alice', text });
  journal.add(recording, [line('of no time', Number.NaN)]);
  await recording.writing;
  journal.add(recording, [line('of now', 1_000)]);
  await recording.writing;
  const last = await log.last(irc, recording.subject);
  t.match(last, { data: { seen: [{ text: 'of now' }] } });
  t.equal(said.length, 1);
  t.equal(skipped, 1);
  t.match(said[0], /no fact takes/);
  t.notMatch(said[0], /of no time/, 'what was said is not in the log of the service');

  journal.add(recording, [
    line('before it', 2_000),
    line('of no time', Number.NaN),
    line('behind it', 3_000),
  ]);
  await recording.writing;
  const { data } = (await log.last(irc, recording.subject))!;
  t.match(data.seen, [{ text: 'before it' }, { text: 'behind it' }], 'what came with it is recorded');
  t.equal(skipped, 2, 'and it is counted');
});

t.test('IRC-23 a fact tells up to which time all is on the log, while something older waits', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats.url);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  /** The log, which does not answer for one channel. */
  const slow = new Proxy(log, {
    get: (target, name) => {
      if (name !== 'appendNext') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
      return async (...of: Parameters<typeof log.appendNext>) => {
        if (of[1] === ircSubject('#held')) await answered;
        return await target.appendNext(...of);
      };
    },
  });
  const logger = pino({ level: 'silent' });
  let lookedFor: number | undefined;
  const superseded = () => t.fail('nobody else records');
  const journal = new Journal({ log: slow, logger, superseded, completeUntil: () => lookedFor });
  const recalled = async () => await new Journal({ log, logger, superseded }).recall();
  const [waits, quick] = [await journal.recording('#held'), await journal.recording('#quick')];
  const line = (at: number): Sighting => ({ is: 'message', at, nick: 'alice', text: `${at}` });
  const written = async (...seen: Sighting[]) => {
    journal.add(quick, seen);
    await quick.writing;
    return (await log.last(irc, quick.subject))!.data.complete_until;
  };

  t.equal(await written(line(1_000)), undefined, 'nothing older waits');
  t.equal(await recalled(), 1_000);
  journal.add(waits, [line(2_000)]);
  journal.add(waits, [line(2_500)]);
  t.equal(await written(line(3_000)), 1_999, 'one that is on its way is not on the log');
  t.equal(await recalled(), 1_999, 'who comes next looks for what was missed from then on');
  lookedFor = 1_500;
  t.equal(await written(line(3_500)), 1_500, 'a channel is not entered again yet');
  lookedFor = undefined;
  answer();
  await waits.writing;
  t.equal(await written(line(4_000)), undefined, 'all is on the log again');
  t.equal(await recalled(), 4_000);
  await journal.stop();
});

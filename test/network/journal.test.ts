import pino from 'pino';
import t from 'tap';
import { irc, type Sighting } from '../../streams/network/index.js';
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

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
  const journal = new Journal({ log, logger, superseded: () => t.fail('nobody else records') });
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
  t.match(said[0], /no fact takes/);
  t.notMatch(said[0], /of no time/, 'what was said is not in the log of the service');
});

import pino from 'pino';
import type { Log } from '../../streams/core/index.js';
import { connections, type SpeechFact, speech } from '../../streams/speech/index.js';
import { supersede } from '../../workers/channels/supersede.js';
import { personOf, SpeakForAgents, type SpeakForAgentsOptions } from '../../workers/speech/index.js';
import { openLog } from '../identity/log.js';
import { credentials, startBot } from '../irc/bot.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
export const hourMs = 3_600_000;

export const alice = { nick: 'alice', person: personOf('wallet 0xa'), by: 'agent:alice:1' };
/** Who proves the nick of that agent later. */
export const owner = { nick: 'alice', person: personOf('wallet 0xb'), by: 'agent:alice:2' };

/** A log, a network with a witness in the lobby, and a gateway in this process as often as one is wanted. */
export async function stage(t: Teardown) {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const witness = await observe(ircd.port, { nick: 'witness', channels: ['#lobby'] });
  t.teardown(() => witness.stop());
  const bot = startBot(t, credentials(ircd));
  await bot.session();
  const log = await openLog(t, nats);
  const gateway = async (options: Partial<SpeakForAgentsOptions> & { log?: Log; url?: string } = {}) => {
    const { url = ircd.url, ...more } = options;
    const one = new SpeakForAgents({
      bridge: 'relay',
      log: await openLog(t, nats),
      logger,
      password: ircd.gatewayPassword,
      most: 10,
      idleMs: hourMs,
      supersede: async (session) => await supersede(bot.connection.session()!, session),
      connection: { url, confirmTimeoutMs: 5_000 },
      ended: async () => new Set(),
      ...more,
    });
    let ended: Promise<void> | undefined;
    const stop = () => (ended ??= one.stop());
    t.teardown(stop);
    one.start();
    return Object.assign(one, { end: stop });
  };
  const say = (text: string, key: string) => ({ ...alice, to: '#lobby', text, action: false, key });
  const facts = async (subject: string) => {
    const found: SpeechFact[] = [];
    const stream = subject.startsWith('connections.') ? connections : speech;
    for await (const fact of log.subject(stream, subject)) found.push(fact);
    return found;
  };
  return { nats, ircd, witness, log, gateway, say, facts };
}

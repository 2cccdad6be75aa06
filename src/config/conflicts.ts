import { casefold } from '../../streams/irc-grammar.js';
import { serviceNicks } from './bot-nicks.js';
import type { Config } from './config.js';

/** Complaints about settings that are each well and do not go together, a line for each, with the name of a setting. */
export function conflictsOf(config: Config): string[] {
  return [...ofServers(config), ...ofNicks(config), ...ofProducers(config)];
}

function* ofServers({ NATS_REPLICAS, NATS_URL, PORT, IRC_EMBEDDED_PORT, IRC_URL }: Config) {
  if (NATS_REPLICAS > 1 && NATS_URL === '')
    yield `NATS_REPLICAS: ${NATS_REPLICAS} copies need a cluster: set NATS_URL, or leave it at 1`;
  // 0 is any free port
  if (IRC_URL === '' && PORT !== 0 && PORT === IRC_EMBEDDED_PORT)
    yield `IRC_EMBEDDED_PORT: ${PORT} is PORT, where the HTTP API is: give the IRC server another one`;
}

/** Two bots with one nick would end each other's connection for ever. */
function* ofNicks(config: Config) {
  const taken = new Map(serviceNicks.map((nick) => [casefold(nick), 'a service of the network']));
  for (const name of ['BRIDGE_NICK', 'EM_NICK', 'CHANNELSERV_NICK', 'MRSERV_NICK'] as const) {
    const nick = config[name];
    const holder = taken.get(casefold(nick));
    if (holder) yield `${name}: ${nick} is the nick of ${holder}: give the bot another one`;
    taken.set(casefold(nick), name);
  }
}

function* ofProducers({ EM_PRODUCERS, EM_WEBHOOK_SECRET, EM_SOURCE }: Config) {
  for (const { source, secret } of EM_PRODUCERS) {
    if (source === EM_SOURCE) yield `EM_PRODUCERS: ${source} is EM_SOURCE, this service itself`;
    if (EM_WEBHOOK_SECRET.includes(secret))
      yield `EM_PRODUCERS: ${source} has a secret of EM_WEBHOOK_SECRET: give it one of its own`;
  }
}

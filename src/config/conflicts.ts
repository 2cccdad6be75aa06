import { casefold } from '../../streams/irc-grammar.js';
import { serviceNicks } from './service-nicks.js';

const botSettings = ['BRIDGE_NICK', 'EM_NICK', 'CHANNELSERV_NICK', 'MRSERV_NICK'] as const;

/** The settings that have to go together. */
interface Together extends Record<(typeof botSettings)[number], string> {
  NATS_REPLICAS: number;
  NATS_URL: string;
  PORT: number;
  IRC_EMBEDDED_PORT: number;
  IRC_URL: string;
  EM_PRODUCERS: readonly { source: string; secret: string }[];
  EM_WEBHOOK_SECRET: readonly string[];
  EM_SOURCE: string;
  PAID_CHANNELS: readonly { name: string }[];
  IRC_CHANNELS: readonly string[];
}

/** Complaints about settings that are each well and do not go together, a line for each, with the name of a setting. */
export function conflictsOf(config: Together): string[] {
  return [...ofServers(config), ...ofNicks(config), ...ofProducers(config), ...ofPaidChannels(config)];
}

function* ofServers({ NATS_REPLICAS, NATS_URL, PORT, IRC_EMBEDDED_PORT, IRC_URL }: Together) {
  if (NATS_REPLICAS > 1 && NATS_URL === '')
    yield `NATS_REPLICAS: ${NATS_REPLICAS} copies need a cluster: set NATS_URL, or leave it at 1`;
  // 0 is any free port
  if (IRC_URL === '' && PORT !== 0 && PORT === IRC_EMBEDDED_PORT)
    yield `IRC_EMBEDDED_PORT: ${PORT} is PORT, where the HTTP API is: give the IRC server another one`;
}

/** Two bots with one nick would end each other's connection for ever. */
function* ofNicks(config: Together) {
  const taken = new Map(serviceNicks.map((nick) => [casefold(nick), 'a service of the network']));
  for (const name of botSettings) {
    const nick = config[name];
    const holder = taken.get(casefold(nick));
    if (holder) yield `${name}: ${nick} is the nick of ${holder}: give the bot another one`;
    taken.set(casefold(nick), name);
  }
}

function* ofProducers({ EM_PRODUCERS, EM_WEBHOOK_SECRET, EM_SOURCE }: Together) {
  for (const { source, secret } of EM_PRODUCERS) {
    if (source === EM_SOURCE) yield `EM_PRODUCERS: ${source} is EM_SOURCE, this service itself`;
    if (EM_WEBHOOK_SECRET.includes(secret))
      yield `EM_PRODUCERS: ${source} has a secret of EM_WEBHOOK_SECRET: give it one of its own`;
  }
}

function* ofPaidChannels({ PAID_CHANNELS, IRC_CHANNELS }: Together) {
  const open = new Set(IRC_CHANNELS.map(casefold));
  for (const { name } of PAID_CHANNELS)
    if (open.has(name)) yield `PAID_CHANNELS: ${name} is one of IRC_CHANNELS, which are for everybody`;
}

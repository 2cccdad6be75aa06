import type { App } from '../../src/app/app.js';
import { startApp } from '../support/app.js';
import { eventually, hangMs } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd, type TestIrcd } from '../support/ircd.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

/** An answer of the service. */
export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, looked at by tests
  body: any;
  headers: Headers;
}

/** The service with a channel bot that is operator on a real network, and a witness who sees all of it. */
export interface ChannelStage {
  nats: TestNats;
  ircd: TestIrcd;
  app: App & { url: string };
  /** An operator that is in no channel. */
  witness: Observer;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A user of the network, from a host of their own unless one is given. */
  agent(nick: string, host?: string): Promise<Observer>;
  /** Nicks in a channel with their prefixes, sorted. Without the recorder, which comes at any time. */
  names(channel: string): Promise<string[]>;
  /** Flags of a channel, sorted, then its parameters; `undefined` if the channel does not exist. */
  modes(channel: string): Promise<string | undefined>;
  topic(channel: string): Promise<string>;
}

/** Environment of a service on given servers. */
export const environmentOf = ({ nats, ircd }: { nats: TestNats; ircd: TestIrcd }) => ({
  NATS_URL: nats.url,
  ...settingsOf(ircd),
  IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
});

/** Asks a service, with a JSON body where there is one. */
export async function askOf(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(hangMs),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

/** Waits until the channel bot of a service is connected and operator. */
export async function untilKept(url: string): Promise<void> {
  await eventually('the channel bot', async () => {
    const { channelserv } = ((await (await fetch(`${url}/health`)).json()) as Health).services;
    return channelserv?.status === 'ok';
  });
}

interface Health {
  services: Record<string, { status: string } | undefined>;
}

/** Starts network, log and service; `environment` is added to the service's. */
export async function channelStage(
  t: Teardown,
  environment: Record<string, string> = {},
  network: Promise<TestIrcd> = startIrcd(t),
): Promise<ChannelStage> {
  const [nats, ircd] = await Promise.all([startNats(t), network]);
  const app = await startApp(t, { ...environmentOf({ nats, ircd }), ...environment });
  await untilKept(app.url);
  const witness = await operatorOn(t, ircd);
  let agents = 0;
  const ask = async (line: string) => (await witness.ask(line)).map((raw) => raw.replace(/^@\S+ /, ''));
  return {
    nats,
    ircd,
    app,
    witness,
    ask: (method, path, body, headers) => askOf(app.url, method, path, body, headers),
    agent: async (nick, host = `127.0.1.${++agents}`) => {
      const agent = await observe(ircd.port, { nick, host });
      t.teardown(() => agent.stop());
      return agent;
    },
    names: async (channel) =>
      (await ask(`NAMES ${channel}`))
        .filter((line) => line.split(' ')[1] === '353')
        .flatMap((line) => line.split(' :')[1]!.trim().split(' '))
        .filter((nick) => !/^[@+]*relay$/.test(nick))
        .sort(),
    modes: async (channel) => {
      const line = (await ask(`MODE ${channel}`)).find((raw) => raw.split(' ')[1] === '324');
      if (!line) return undefined;
      const [flags = '', ...parameters] = line.split(' ').slice(4);
      return [[...flags.slice(1)].sort().join(''), ...parameters].join(' ').replace(/ :/, ' ');
    },
    topic: async (channel) => {
      const line = (await ask(`TOPIC ${channel}`)).find((raw) => raw.split(' ')[1] === '332');
      return line?.slice(line.indexOf(' :') + 2) ?? '';
    },
  };
}

/** A witness who may look into every channel, and force. */
export async function operatorOn(t: Teardown, ircd: TestIrcd): Promise<Observer> {
  const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword });
  t.teardown(() => witness.stop());
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  return witness;
}

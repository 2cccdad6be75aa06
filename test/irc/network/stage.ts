import { ircNetwork } from '../../../projections/network/tables.js';
import type { App } from '../../../src/app/app.js';
import { openDirectory, openLog } from '../../channels/keeper.js';
import { type Answer, askOf, environmentOf, untilKept } from '../../channels/stage.js';
import { startApp } from '../../support/app.js';
import { type Observer, observe } from '../../support/irc-observer.js';
import type { TestIrcd } from '../../support/ircd.js';
import { startNats, type TestNats } from '../../support/nats.js';
import type { Teardown } from '../../support/server-process.js';

const key = 'n'.repeat(40);

/** A channel as it is, whoever tells: members sorted, mode letters sorted. */
export interface Standing {
  members: string[];
  modes: string;
  topic: string;
}

/** The service on given servers, seen from one of them and from its read models. */
export interface NetworkStage {
  nats: TestNats;
  app: App & { url: string };
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A channel as a server has it; undefined where it has none. */
  onServer(witness: Observer, channel: string): Promise<Standing | undefined>;
  /** A channel as it was folded from what was recorded; undefined where it is not known. */
  recorded(channel: string): Promise<Standing | undefined>;
}

/** Starts the service on a network; `environment` is added to its own. */
export async function networkStage(
  t: Teardown,
  ircd: TestIrcd,
  environment: Record<string, string> = {},
): Promise<NetworkStage> {
  const nats = await startNats(t);
  const app = await startApp(t, {
    ...environmentOf({ nats, ircd }),
    API_KEYS: `ops:${key}`,
    ...environment,
  });
  await untilKept(app.url);
  const { sql } = await openDirectory(t, await openLog(t, nats.url));
  const schema = `${ircNetwork.name}_v${ircNetwork.version}`;
  return {
    nats,
    app,
    ask: (method, path, body) => askOf(app.url, method, path, body, { 'x-api-key': key }),
    onServer: standingOn,
    recorded: async (channel) => {
      const [row] = await sql.query<{ modes: string; topic: string }>(
        `select modes, topic from ${schema}.channels where channel = $1 and present`,
        [channel],
      );
      const members = await sql.query<{ shown: string }>(
        `select shown from ${schema}.members where channel = $1`,
        [channel],
      );
      return row && { ...row, members: members.map(({ shown }) => shown).sort() };
    },
  };
}

/** A user of one server; leaves when the test ends. */
export async function userOn(t: Teardown, { port }: TestIrcd, nick: string): Promise<Observer> {
  const user = await observe(port, { nick });
  t.teardown(() => user.stop());
  return user;
}

/** An operator of one server, in no channel. */
export async function operatorOn(t: Teardown, ircd: TestIrcd, nick: string): Promise<Observer> {
  const operator = await observe(ircd.port, { nick, password: ircd.serverPassword });
  t.teardown(() => operator.stop());
  await operator.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  return operator;
}

async function standingOn(witness: Observer, channel: string): Promise<Standing | undefined> {
  const lines = (await witness.ask(`MODE ${channel}`, `TOPIC ${channel}`, `NAMES ${channel}`)).map((raw) =>
    raw.replace(/^@\S+ /, ''),
  );
  const of = (numeric: string) => lines.filter((line) => line.split(' ')[1] === numeric);
  const [mode] = of('324');
  if (!mode) return undefined;
  const [topic] = of('332');
  return {
    modes: [...(mode.split(' ')[4] ?? '').replace(/^:?\+/, '')].sort().join(''),
    topic: topic ? topic.slice(topic.indexOf(' :') + 2) : '',
    members: of('353')
      .flatMap((line) =>
        line
          .slice(line.indexOf(' :') + 2)
          .trim()
          .split(' '),
      )
      .map((nick) => nick.replace(/^[@+]+/, ''))
      .sort(),
  };
}

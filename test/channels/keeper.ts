import { pino } from 'pino';
import { openSql } from '../../projections/core/open-sql.js';
import { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { projections } from '../../projections/index.js';
import { ReadModels } from '../../src/stores/read-models.js';
import { SharedHours } from '../../src/stores/shared-hours.js';
import { channels as channelStream } from '../../streams/channels/index.js';
import { Log } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import {
  type Channels,
  createChannels,
  KeepChannels,
  type KeepChannelsOptions,
} from '../../workers/channels/index.js';
import { IrcConnection } from '../../workers/irc/index.js';
import { eventually } from '../support/eventually.js';
import type { TestIrcd } from '../support/ircd.js';
import type { TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';
import { temporaryDirectory } from '../support/sql.js';

/** A keeper of channels in this process, without the rest of the service. */
export interface Keeper {
  log: Log;
  irc: IrcConnection;
  /** Commands as any other process gives them. */
  channels: Channels;
  /** Reads of the directory, once it has everything that is recorded. */
  read: KeepChannelsOptions['read'];
  /** What it has logged, parsed. */
  logged: Record<string, unknown>[];
  stop(): Promise<void>;
}

export const asker = { by: 'test' };
const day = 86_400_000;

/** A creation as automation asks for it, which has no hourly limit. */
export const creation = (name: string, fields: Partial<Parameters<Channels['create']>[0]> = {}) => ({
  name,
  type: 'task' as const,
  modes: '+int',
  topic: '',
  invite_list: [],
  metadata: {},
  cause: 'automation' as const,
  ...fields,
});

/** Opens the streams of a log. */
export async function openLog(t: Teardown, url: string): Promise<Log> {
  const logger = pino({ level: 'silent' });
  const log = await Log.open({ urls: url, name: 'test', streams, replicas: 1, maxBytes: 5e8, logger });
  t.teardown(() => log.close());
  return log;
}

/** A folded read store, as `read` of a keeper. */
export async function openDirectory(t: Teardown, log: Log): Promise<{ read: Keeper['read']; sql: Sql }> {
  const logger = pino({ level: 'silent' });
  const directory = await temporaryDirectory(t);
  const sql = await openSql({ databaseUrl: '', directory: `${directory}/pg`, logger });
  const projector = new Projector({ log, sql, projections, logger, watchMs: 200 });
  await projector.start();
  t.teardown(async () => {
    await projector.stop();
    await sql.close();
  });
  const models = new ReadModels(sql, projector);
  // a database that starts may take longer than a reader waits
  const now = { stream: channelStream.name, seq: await log.head(channelStream) };
  await eventually('the directory to be there', () => models.reached('channel_directory', now));
  return { sql, read: (query, after) => models.readAt('channel_directory', query, after) };
}

/** Starts a keeper and waits until it has reconciled. */
export async function startKeeper(
  t: Teardown,
  { nats, ircd }: { nats: TestNats; ircd: TestIrcd },
  options: Partial<KeepChannelsOptions> & { nick?: string } = {},
): Promise<Keeper> {
  const logged: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const log = options.log ?? (await openLog(t, nats.url));
  const read = options.read ?? (await openDirectory(t, log)).read;
  const irc = new IrcConnection({
    url: ircd.url,
    nick: options.nick ?? 'channelserv',
    password: ircd.serverPassword,
    log: logger,
    oper: { name: ircd.operName, password: ircd.operPassword },
    bytesInFlight: 16_384,
  });
  const keeper = new KeepChannels({
    log,
    irc,
    read,
    logger,
    bots: ['em-bot'],
    masksIn: async () => [],
    helped: ['em-bot'],
    reserved: [],
    hours: new SharedHours({ log, replicas: 1, name: 'TEST_HOURS' }),
    limits: { creations: 0, deletions: 0, memberOperations: 0 },
    lifetimes: { deleteAfterMs: 7 * day, geographicIdleMs: 30 * day, endedTaskMs: 3 * day },
    ...options,
  });
  keeper.start();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= keeper.stop();
    return stopped;
  };
  t.teardown(stop);
  await reconciled({ logged });
  return { log, irc, read, logged, stop, channels: createChannels(log) };
}

/** What a keeper logged of its n-th reconciliation, from 1; waits for it. */
export async function reconciled({ logged }: Pick<Keeper, 'logged'>, n = 1) {
  return await eventually(
    `reconciliation ${n}`,
    () => logged.filter(({ msg }) => msg === 'channels reconciled')[n - 1],
  );
}

import { resolve } from 'node:path';
import { pino } from 'pino';
import { Log, type StreamDefinition } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { withoutCredentials } from '../../app/about.js';
import type { Config } from '../../config/config.js';
import { Failed, UsageError } from '../core/failure.js';
import { ownLogUrl } from '../service/own-servers.js';

/** The meaning of the client's errors, and our codes for them. */
const problems: Record<string, [reason: string, code: string]> = {
  CONNECTION_REFUSED: ['nothing listens there', 'log_unavailable'],
  AUTHORIZATION_VIOLATION: ['it wants other credentials', 'log_unauthorized'],
  '503': ['JetStream is not enabled there', 'log_without_jetstream'],
};

/**
 * Opens the event log for reading, without the service: at NATS_URL, else on the server that the service runs
 * for itself.
 */
export async function openLogReader(config: Config): Promise<Log> {
  return await openLog(config.NATS_URL || ownServer(resolve(config.DATA_DIR)));
}

/** Lends the event log for reading. */
export async function withLog<T>(config: Config, work: (log: Log) => Promise<T>): Promise<T> {
  const log = await openLogReader(config);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

/** Opens the event log at comma-separated addresses for reading. Throws `Failed` with a reason for operators. */
export async function openLog(urls: string): Promise<Log> {
  try {
    // without stream definitions nothing is created or changed
    return await Log.open({
      urls,
      name: 'relay command line',
      streams: [],
      replicas: 1,
      maxBytes: 0,
      logger: pino({ level: 'silent' }),
    });
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    const [reason, problem] = problems[code] ?? [message, 'log_unavailable'];
    throw new Failed(`the event log at ${withoutCredentials(urls)} cannot be read: ${reason}`, problem);
  }
}

/** The stream of that name, in any case. Throws `UsageError` if it does not exist. */
export function streamNamed(name: string): StreamDefinition {
  const found = streams.find((stream) => stream.name === name.toUpperCase());
  if (found) return found;
  throw new UsageError(`there is no stream "${name}": ${streams.map((stream) => stream.name).join(', ')}`);
}

/** The address of the nats-server that the service has started on this data directory. */
function ownServer(dataDir: string): string {
  const url = ownLogUrl(dataDir);
  if (url !== undefined) return url;
  throw new Failed(
    `no event log runs for the data directory ${dataDir}`,
    'log_not_running',
    'Start the service with "relay start" (or npm start), or set NATS_URL or DATA_DIR to where it runs.',
  );
}

import { resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { version } from '../servers/version.js';
import type { Dependencies } from './dependencies.js';

/** What a process tells its operators about itself; addresses are without credentials. */
export interface About {
  version: string;
  roles: string[];
  /** Its data directory, with the whole path. */
  data: string;
  nats: string;
  sql: string;
  /** Empty in a process that has nothing to do with IRC. */
  irc: string;
}

/** Describes a process that runs with a configuration. */
export function describeProcess(
  config: Config,
  { natsUrl, sqlPlace, ircUrl }: Pick<Dependencies, 'natsUrl' | 'sqlPlace' | 'ircUrl'>,
): About {
  return {
    version,
    roles: config.ROLES,
    data: resolve(config.DATA_DIR),
    nats: withoutCredentials(natsUrl),
    sql: sqlPlace,
    irc: withoutCredentials(ircUrl),
  };
}

/** Comma-separated addresses as they may be shown. */
export function withoutCredentials(urls: string): string {
  return urls.replace(/\/\/[^/,]*@/g, '//');
}

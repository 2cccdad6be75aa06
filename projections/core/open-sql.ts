import type { Logger } from 'pino';
import type { SharedStore, Sql } from './sql.js';

/** Opens the read store: the PostgreSQL at `databaseUrl`, or without one a database in `directory`, in this process. */
export async function openSql(options: {
  databaseUrl?: string;
  directory: string;
  logger: Logger;
}): Promise<Sql> {
  // only the engine that is used is loaded
  if (options.databaseUrl)
    return (await import('./postgres.js')).openPostgres(options.databaseUrl, options.logger);
  return await (await import('./pglite.js')).openPglite(options.directory, options.logger);
}

/** Opens, to fold only, the read store that another thread of this process shares. */
export async function openShared(store: SharedStore, logger: Logger): Promise<Sql> {
  if ('guest' in store) return (await import('./pglite-guest.js')).openGuest(store.guest);
  return (await import('./postgres.js')).openPostgres(store.databaseUrl, logger, { use: 'folding' });
}

import type { Logger } from 'pino';
import { openPglite } from './pglite.js';
import { openPostgres } from './postgres.js';
import type { Sql } from './sql.js';

/** Opens the read store: the PostgreSQL at `databaseUrl`, or without one a database in `directory`, in this process. */
export async function openSql(options: {
  databaseUrl?: string;
  directory: string;
  logger: Logger;
}): Promise<Sql> {
  if (options.databaseUrl) return openPostgres(options.databaseUrl, options.logger);
  return await openPglite(options.directory, options.logger);
}

import { type StoredQuery, storedQuery } from '../../../projections/deliberation/queries.js';
import { type Log, Unavailable } from '../../../streams/core/index.js';
import {
  deliberation as facts,
  isQueryId,
  mayRead,
  queryNotFound,
  querySubject,
} from '../../../streams/deliberation/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import type { Caller } from '../core/operation.js';
import type { QueryFeed } from './feed.js';
import type { ConfiguredModel } from './models-file.js';

/** What the operations of deliberation work with. */
export interface DeliberationParts {
  log: Log;
  startedAt: Date;
  deliberation: {
    rows: OwnReadModel;
    /** What happens to queries as it happens. */
    feed: QueryFeed;
    /** Models that queries may name. */
    models: readonly Omit<ConfiguredModel, 'apiKey'>[];
    /** What one query may cost, in US dollars. */
    maxCostUsd: number;
  };
}

/** Name under which a caller owns queries; an unknown caller owns none. */
export const readerOf = ({ is, actor }: Caller): string | undefined => (is === 'none' ? undefined : actor);

/** Whether nothing will happen to a query any more. */
export const hasEnded = ({ status }: Pick<StoredQuery, 'status'>): boolean =>
  status === 'completed' || status === 'failed';

/**
 * The query with this id, for those who may read it. It includes what another process has accepted or done
 * recently. The stream is read from the log, and a reader who was told there that the query is done must find
 * it so.
 */
export async function foundQuery(
  id: string,
  caller: Caller,
  { log, deliberation: { rows } }: DeliberationParts,
): Promise<StoredQuery> {
  if (!isQueryId(id)) throw queryNotFound();
  const look = () => rows.read(storedQuery, id);
  let found = await look();
  if (!found || !hasEnded(found)) {
    const last = await log.last(facts, querySubject(id)).catch((error: unknown) => {
      // an existing query can be read without the log
      if (!found) throw error;
    });
    if (!last && !found) throw queryNotFound();
    if (last) {
      rows.wrote(last);
      found = await look();
    }
  }
  if (!found) throw new Unavailable('read_model_behind', 'The query is not there to be read yet');
  if (!mayRead(found, readerOf(caller))) throw queryNotFound();
  return found;
}

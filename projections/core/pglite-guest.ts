import type { MessagePort } from 'node:worker_threads';
import { type Reply, Requests, type StatementResult } from './pglite-requests.js';
import { type Sql, storeError, wireParam } from './sql.js';
import { type RunStatement, TransactionQueue } from './transaction-queue.js';

/**
 * The read store that another thread has opened, through the port that it gave. Once the store is closed or broken,
 * every statement is refused for ever.
 */
export function openGuest(port: MessagePort): Sql {
  const requests = new Requests((request, transfer) => port.postMessage(request, transfer));
  const queue = new TransactionQueue();
  let losses = 0;
  port.on('message', (reply: Reply) => requests.receive(reply));
  port.on('close', () => {
    losses += 1;
    requests.end('its thread ended');
  });
  const run: RunStatement = async <R>(...[text, params, check]: Parameters<RunStatement>) => {
    let result: StatementResult;
    try {
      result = (await requests.ask({ text, params: params?.map(wireParam) })) as StatementResult;
    } catch (error) {
      throw storeError(error);
    }
    check?.(result.command);
    return result.rows as R[];
  };
  return {
    engine: 'pglite',
    get losses() {
      return losses;
    },
    query: (text, params) => queue.query(() => run(text, params)),
    transaction: (work) => queue.transaction(() => run, work),
    close: async () => {
      await queue.ended();
      requests.close('it is closed');
      port.close();
    },
  };
}

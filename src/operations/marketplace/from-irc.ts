import { LRUCache } from 'lru-cache';
import { casefold } from '../../../streams/irc-grammar.js';
import { readTask, type Task, type TaskMarket } from '../../../workers/marketplace/index.js';
import { type Call, nobody } from '../core/call.js';
import { passedOn, toldBy } from './passing-on.js';

/** How long the list of open tasks answers for itself: agents ask for it in bursts. */
const listKeptMs = 5_000;
/** Tasks that are looked through. */
const listed = 100;

/** The marketplace as the bot on IRC reaches it: through the same operations as everybody, with the operator's credential. */
export function taskMarketOf(call: Call): TaskMarket {
  const lists = new LRUCache<'open', Task[]>({
    max: 1,
    ttl: listKeptMs,
    // who asks while one is on its way gets the same
    fetchMethod: async () => {
      const input = { search: `?limit=${listed}`, headers: {} };
      return tasksIn(toldBy(await call(passedOn.availableTasks, input, nobody)));
    },
  });
  return {
    open: async () => (await lists.fetch('open')) ?? [],
    task: async (id) => {
      const input = { id, search: '', headers: {} };
      const answer = await call(passedOn.getTask, input, nobody);
      return answer.status === 404 ? undefined : readTask(toldBy(answer));
    },
    claim: async (id, { nick, wallet }) => {
      const applied = { executor_id: wallet, worker_nick: nick, message: `Claimed on IRC by ${nick}` };
      const body = Buffer.from(JSON.stringify(applied));
      const input = { id, search: '', headers: { 'content-type': 'application/json' }, body };
      // that the nick is theirs and that its level may claim, the bot has seen
      const caller = {
        is: 'agent',
        key: 'irc',
        nick: casefold(nick),
        wallet,
        scopes: ['tasks'],
        actor: `irc:${casefold(nick)}`,
      } as const;
      toldBy(await call(passedOn.applyTask, input, caller));
    },
  };
}

/** The marketplace may call its list as it likes. */
function tasksIn(told: unknown): Task[] {
  const lists = Array.isArray(told) ? [told] : Object.values((told ?? {}) as object).filter(Array.isArray);
  return lists.flat().flatMap((one: unknown) => readTask(one) ?? []);
}

import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import t from 'tap';
import { AddressLimit } from '../../src/auth/address-limit.js';
import { ConflictingEvents } from '../../src/operations/events/conflicting-events.js';
import { Owners } from '../../src/operations/events/owners.js';
import { SharedCounts } from '../../src/stores/shared-counts.js';
import type { Log } from '../../streams/core/index.js';
import type { MarketEvent } from '../../streams/events/index.js';
import { LoopWatch } from '../../streams/moderation/loops.js';
import { Door } from '../../workers/channels/door.js';
import { OwnFacts } from '../../workers/channels/own-facts.js';
import { RateLimit } from '../../workers/irc/command-rate.js';
import type { IrcConnection } from '../../workers/irc/index.js';
import type { Session } from '../../workers/irc/session.js';
import { takeAppeals } from '../../workers/moderation/appeals.js';
import { RecentLines } from '../../workers/moderation/recent-lines.js';
import { openLog } from '../channels/keeper.js';
import { startNats } from '../support/nats.js';

/** A memory of those who come: their names are theirs to choose. */
interface Memory {
  /** Somebody with a name that nobody had before. */
  add(n: number): unknown;
  /** Whether the one with this number is remembered. */
  knows(n: number): unknown;
}

const logger = pino({ level: 'silent' });
const settled = () => new Promise((resolve) => setImmediate(resolve));

const session = () => {
  const told: string[][] = [];
  const ask = async (...line: string[]) => void told.push(line);
  return { told, session: { nick: 'bot', ask } as unknown as Session };
};

const door = (): { told: string[][]; tell(nick: string, channel: string): void } => {
  const { told, session: one } = session();
  const found = new Door({ bots: [], logger });
  return { told, tell: (nick, channel) => found.tell(one, nick, channel) };
};

const memories: { of: string; most: number; make(): Memory }[] = [
  {
    of: 'addresses with requests',
    most: 100_000,
    make: () => {
      const limit = new AddressLimit(1);
      return {
        add: (n) => limit.count(`address${n}`),
        knows: (n) => !limit.count(`address${n}`).allowed,
      };
    },
  },
  {
    of: 'nicks that write to a bot',
    most: 10_000,
    make: () => {
      const rate = new RateLimit();
      return {
        add: (n) => {
          for (let line = 0; line < (n === 0 ? 20 : 1); line++) rate.take(`nick${n}`, 0);
        },
        knows: (n) => rate.take(`nick${n}`, 0) !== 'go',
      };
    },
  },
  {
    of: 'the last lines of speakers',
    most: 10_000,
    make: () => {
      const lines = new RecentLines();
      return {
        add: (n) => lines.add(`nick${n}`, 0, 'ignore all'),
        knows: (n) => lines.joined(`nick${n}`, 1, 'previous instructions') !== undefined,
      };
    },
  },
  {
    of: 'channels in which programs answer each other',
    most: 1_000,
    make: () => {
      const watch = new LoopWatch();
      const say = (n: number, line: number) => {
        const [nick, other] = line % 2 ? ['one', 'two'] : ['two', 'one'];
        return watch.see(`#room${n}`, {
          nick: nick!,
          text: `${other}: yes`,
          at: 1_767_225_600_000 + line * 100,
          bot: true,
        });
      };
      let lines = 0;
      while (lines < 50 && !say(-1, lines)) lines += 1;
      return {
        add: (n) => {
          for (let line = 0; line < (n === 0 ? lines : 1); line++) say(n, line);
        },
        knows: (n) => say(n, lines) !== undefined,
      };
    },
  },
  {
    of: 'events that came again with another body',
    most: 1_000,
    make: () => {
      let told = 0;
      const events = new ConflictingEvents({ warn: () => told++ } as never, () => {});
      return {
        add: (n) => events.note(`evt${n}`),
        knows: (n) => {
          const before = told;
          events.note(`evt${n}`);
          return told === before;
        },
      };
    },
  },
  {
    of: 'owners of tasks',
    most: 10_000,
    make: () => {
      let asked = 0;
      const last = async () => {
        asked += 1;
        return { data: { source: 'one' } };
      };
      const owners = new Owners({ last } as unknown as Log, new Set(['one', 'two']));
      const check = (n: number) =>
        owners.check({
          source: 'one',
          event_type: 'task.created',
          payload: { id: `t${n}` },
        } as unknown as MarketEvent);
      return {
        add: check,
        knows: async (n) => {
          const before = asked;
          await check(n);
          return asked === before;
        },
      };
    },
  },
  {
    of: 'hosts with appeals',
    most: 10_000,
    make: () => {
      const irc = new EventEmitter();
      let answers = 0;
      const status = () => ({ nick: 'bot' });
      takeAppeals(
        Object.assign(irc, {
          status,
          session: () => ({ command: async () => void answers++ }),
        }) as unknown as IrcConnection,
        { log: { at: async () => undefined } as unknown as Log, logger },
      );
      const appeal = async (n: number) => {
        const line = { command: 'PRIVMSG', nick: 'ann', params: ['bot', 'APPEAL 1 why'], tags: {} };
        irc.emit('line', { ...line, ident: 'ann', hostname: `host${n}` });
      };
      return {
        add: async (n) => {
          for (let count = 0; count < (n === 0 ? 5 : 1); count++) await appeal(n);
        },
        knows: async (n) => {
          await settled();
          const before = answers;
          await appeal(n);
          await settled();
          return answers === before;
        },
      };
    },
  },
  {
    of: 'nicks that were told how to come in',
    most: 5_000,
    make: () => {
      const { told, tell } = door();
      return {
        add: (n) => tell(`nick${n}`, '#room'),
        knows: (n) => {
          const before = told.length;
          tell(`nick${n}`, '#room');
          return told.length === before;
        },
      };
    },
  },
  {
    of: 'channels that one nick was told of',
    most: 100,
    make: () => {
      const { told, tell } = door();
      return {
        add: (n) => tell('ann', `#room${n}`),
        knows: (n) => {
          const before = told.length;
          tell('ann', `#room${n}`);
          return told.length === before;
        },
      };
    },
  },
  {
    of: 'own facts that were not seen yet',
    most: 1_000,
    make: () => {
      const own = new OwnFacts();
      return {
        add: (n) =>
          own.write(
            '#room',
            async () => n,
            (seq) => seq,
          ),
        knows: (n) => own.has('#room', n),
      };
    },
  },
];

for (const { of, most, make } of memories)
  t.test(`HOSTILE-05 how many are remembered at most: ${of}`, async (t) => {
    for (const [others, isKnown] of [
      [most - 1, true],
      [most, false],
    ] as const) {
      const memory = make();
      for (let n = 0; n <= others; n++) await memory.add(n);
      t.equal(await memory.knows(0), isKnown, `the first one, after ${others} others`);
    }
  });

t.test('HOSTILE-05 counts that processes share have a bound too, and a window for each caller', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats.url);
  const options = { log, replicas: 1, most: 2, windowMs: 600_000, maxEntries: 3 };
  const counts = new SharedCounts({ ...options, name: 'TEST_COUNTS' });
  const elsewhere = new SharedCounts({ ...options, name: 'TEST_COUNTS' });
  t.ok((await counts.take('ann')).allowed);
  t.ok((await elsewhere.take('ann')).allowed);
  t.match(await counts.take('ann'), { allowed: false, resetSec: 600 }, 'both processes have counted');
  await elsewhere.giveBack('ann');
  t.ok((await counts.take('ann')).allowed);
  t.notOk((await elsewhere.take('ann')).allowed);
  t.notOk((await counts.take('bob', 3)).allowed, 'more than there is room for');
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? counts : elsewhere).take('carol')),
  );
  t.equal(many.filter(({ allowed }) => allowed).length, 2, 'many at once');
  for (const name of ['dave', 'eve', 'frank']) await counts.take(name);
  const { state } = await log.manager.streams.info('TEST_COUNTS');
  t.equal(state.messages, 3);
  t.ok((await counts.take('ann')).allowed, 'who was not counted for longest is forgotten');
});

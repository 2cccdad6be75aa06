import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import t from 'tap';
import type { StoredKey } from '../../projections/keys.js';
import { AddressLimit } from '../../src/auth/address-limit.js';
import { AgentKeys, newAgentKey } from '../../src/auth/agent-keys.js';
import { ConflictingEvents } from '../../src/operations/events/conflicting-events.js';
import { Owners } from '../../src/operations/events/owners.js';
import { Reception } from '../../src/operations/events/reception.js';
import { SharedCounts } from '../../src/stores/shared-counts.js';
import { clock, useClock } from '../../streams/core/clock.js';
import type { Log } from '../../streams/core/index.js';
import { MarketEvent, samplePayload } from '../../streams/events/index.js';
import { LoopWatch } from '../../streams/moderation/loops.js';
import { Door } from '../../workers/channels/door.js';
import { OwnFacts } from '../../workers/channels/own-facts.js';
import { AgentCards } from '../../workers/directory/index.js';
import { AgentRegistry } from '../../workers/identity/registry-watch/agents.js';
import { RateLimit } from '../../workers/irc/command-rate.js';
import type { IrcConnection } from '../../workers/irc/index.js';
import type { Session } from '../../workers/irc/session.js';
import { takeAppeals } from '../../workers/moderation/appeals.js';
import { NewAccounts } from '../../workers/moderation/new-accounts.js';
import { Notes } from '../../workers/moderation/notes.js';
import { RecentLines } from '../../workers/moderation/recent-lines.js';
import { greetNewcomers } from '../../workers/network/index.js';
import { EndedLines } from '../../workers/speech/ended-lines.js';
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

/** A chain of 101 blocks without any registration; which block was read first the last time. */
const chain = { url: '', readFrom: -1 };
const chainServer = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
  if (method === 'eth_getLogs') chain.readFrom = Number(params[0].fromBlock);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'eth_getLogs' ? [] : '0x64' }));
});
chainServer.listen(0, '127.0.0.1');
await once(chainServer, 'listening');
chain.url = `http://127.0.0.1:${(chainServer.address() as AddressInfo).port}`;
t.teardown(() => {
  chainServer.closeAllConnections();
  chainServer.close();
});

/** Work that takes no time, as memories see it that forget after a while. */
async function inNoTime<T>(work: () => Promise<T>): Promise<T> {
  const { now } = performance;
  performance.now = () => 1;
  try {
    return await work();
  } finally {
    performance.now = now;
  }
}

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
        return { type: 'task.owned', data: { source: 'one' } };
      };
      const owners = new Owners({ log: { last } as unknown as Log, logger, names: new Set(['one', 'two']) });
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
    of: 'who was told the rules',
    most: 20_000,
    make: () => {
      const { told, session: one } = session();
      const irc = new EventEmitter();
      Object.assign(irc, { session: () => ({ ...one, confirmation: 'labels', command: one.ask }) });
      greetNewcomers(irc as unknown as IrcConnection, { logger, rules: () => 'Be kind.', bots: [] });
      let now = 0;
      const join = async (n: number) => {
        // of a crowd that comes at once, not all are told
        now += 1_000;
        const giveBack = useClock({ ...clock, elapsed: () => now });
        irc.emit('line', { command: 'JOIN', nick: `nick${n}`, params: ['#lobby'], tags: {} });
        giveBack();
        await settled();
      };
      return {
        add: join,
        knows: async (n) => {
          const before = told.length;
          await join(n);
          return told.length === before;
        },
      };
    },
  },
  {
    of: 'links of nicks with keys',
    most: 5_000,
    make: () => {
      const wallet = `0x${'a'.repeat(40)}`;
      const issued = Array.from({ length: 5_001 }, newAgentKey);
      let asked = 0;
      const keys = new AgentKeys({
        find: async (id) => {
          const n = issued.findIndex((one) => one.id === id);
          const ends = { issued_at: '2026-01-01T00:00:00Z', expires_at: '2999-01-01T00:00:00Z' };
          const { hash } = issued[n]!;
          return {
            id,
            hash,
            nick: `nick${n}`,
            wallet,
            name: '',
            scopes: [],
            ...ends,
          } as unknown as StoredKey;
        },
        linkOf: async () => {
          asked += 1;
          return { wallet_address: wallet, level: 2 };
        },
        now: () => new Date(),
        perMinute: { key: 0, nick: 0 },
      });
      const identify = (n: number) => inNoTime(() => keys.identify(issued[n]!.key));
      return {
        add: identify,
        knows: async (n) => {
          const before = asked;
          await identify(n);
          return asked === before;
        },
      };
    },
  },
  {
    of: 'cards of agents',
    most: 500,
    make: () => {
      let asked = 0;
      const fetch = async () => {
        asked += 1;
        return new Response('{"name":"ann"}');
      };
      const cards = new AgentCards({ fetch, thresholds: [20, 40, 60, 80, 95] });
      return {
        add: (n) => cards.at(`https://host${n}.example/card`),
        knows: async (n) => {
          const before = asked;
          await cards.at(`https://host${n}.example/card`);
          return asked === before;
        },
      };
    },
  },
  {
    of: 'wallets that were looked for on the chain',
    most: 20_000,
    make: () => {
      const address = `0x${'1'.repeat(40)}`;
      const agents = new AgentRegistry({ rpcUrl: chain.url, address });
      const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
      const wallets: string[] = [];
      return {
        add: (n) => wallets.push(wallet(n)),
        knows: async (n) => {
          await agents.agentsOf(wallets);
          await agents.agentOf(wallet(n));
          return chain.readFrom > 0;
        },
      };
    },
  },
  {
    of: 'rooms that events have opened',
    most: 1_000,
    make: () => {
      const now = new Date();
      const log = {
        now: () => now,
        appendOnce: async () => ({ seq: 1 }),
        last: async () => undefined,
      };
      const reception = new Reception({
        log: log as unknown as Log,
        // each room was deleted before
        deletedRooms: { deletedAt: async () => new Date(now.getTime() - 1_000) },
        rows: { wrote: () => {} },
        readModels: {} as never,
        source: 'us',
        thresholds: [20, 40, 60, 80, 95],
        conflicting: new ConflictingEvents(logger, () => {}),
      });
      const event = (event_type: string, n: number) =>
        MarketEvent.parse({
          ...{ event_id: `${event_type}-${n}`, event_type, source: 'market' },
          ...{ timestamp: now.toISOString(), payload: samplePayload(event_type, `t${n}`) },
        });
      return {
        add: (n) => reception.receive(event('task.assigned', n)),
        knows: async (n) => {
          const found = await reception.receive(event('submission.received', n));
          return 'target_channels' in found && found.target_channels.includes(`#task-t${n}`);
        },
      };
    },
  },
  {
    of: 'lines of agents that have ended',
    most: 5_000,
    make: () => {
      const ended = new EndedLines();
      return { add: (n) => ended.add(`line${n}`), knows: (n) => ended.has(`line${n}`) };
    },
  },
  {
    of: 'accounts that the nick service was asked about',
    most: 10_000,
    make: () => {
      let asked = 0;
      const accounts = new NewAccounts({
        logger,
        registeredAt: async () => {
          asked += 1;
          return 1;
        },
      });
      const ask = (n: number) => inNoTime(() => accounts.registeredAt(`account${n}`));
      return {
        add: ask,
        knows: async (n) => {
          const before = asked;
          await ask(n);
          return asked === before;
        },
      };
    },
  },
  {
    of: 'persons whose incidents of level LOG are counted',
    most: 10_000,
    make: () => {
      const notes = new Notes(logger, { inAll: Number.POSITIVE_INFINITY });
      return {
        add: (n) => {
          while (notes.take(`person${n}`));
        },
        knows: (n) => !notes.take(`person${n}`),
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
  const options = {
    ...{ log, replicas: 1, description: 'Of a test.' },
    ...{ most: 2, windowMs: 600_000, maxEntries: 3 },
  };
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

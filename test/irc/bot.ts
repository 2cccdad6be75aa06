import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { IrcConnection, type IrcConnectionOptions } from '../../workers/irc/connection.js';
import type { JoinOutcome } from '../../workers/irc/join.js';
import type { Session } from '../../workers/irc/session.js';
import { hangMs } from '../support/eventually.js';
import type { TestIrcd } from '../support/ircd.js';
import type { Teardown } from '../support/server-process.js';

/** A connection under test and what it has announced. */
export interface Bot {
  connection: IrcConnection;
  sessions: Session[];
  lost: string[];
  /** What it has logged, parsed. */
  logged: Record<string, unknown>[];
  /** Waits for the n-th session, from 1. */
  session(n?: number): Promise<Session>;
}

/** The credentials of the test server as options of a connection. */
export const credentials = (ircd: TestIrcd) => ({
  url: ircd.url,
  password: ircd.serverPassword,
  oper: { name: ircd.operName, password: ircd.operPassword },
});

/** Starts a connection and stops it at the end of the test. */
export function startBot(
  t: Teardown,
  options: Omit<IrcConnectionOptions, 'log' | 'nick'> & { nick?: string },
): Bot {
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const connection = new IrcConnection({ nick: 'em-bot', ...options, log });
  const sessions: Session[] = [];
  const lost: string[] = [];
  connection.on('session', (session) => sessions.push(session));
  connection.on('lost', (reason) => lost.push(reason));
  t.teardown(() => connection.stop('Test over'));
  connection.start();
  return {
    connection,
    sessions,
    lost,
    logged,
    async session(n = 1) {
      const signal = AbortSignal.timeout(hangMs);
      while (sessions.length < n) {
        await once(connection, 'session', { signal }).catch(() => {
          throw new Error(`no session ${n} within ${hangMs} ms: ${JSON.stringify(connection.status())}`);
        });
      }
      return sessions[n - 1]!;
    },
  };
}

/** Joins one channel; throws unless it worked. */
export async function joinOne(
  session: Session,
  channel: string,
  history = false,
): Promise<JoinOutcome & { is: 'joined' }> {
  const outcome = (await session.join([channel], { history })).get(channel);
  if (outcome?.is !== 'joined') throw new Error(`${channel}: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** Looks again and again until the condition holds. */
export async function until(condition: () => boolean, what: string, ms = hangMs): Promise<void> {
  const deadline = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await delay(10);
  }
}

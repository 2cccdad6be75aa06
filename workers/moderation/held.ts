import { createHash } from 'node:crypto';
import { runningAtHosts } from '../../projections/moderation/running.js';
import type { Position } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { hostOf, moderation, newAccountPattern, personDecider } from '../../streams/moderation/index.js';
import { carryOut } from './carry-out.js';
import type { NewAccounts } from './new-accounts.js';
import { type GuardOptions, guard } from './options.js';

type Running = Awaited<ReturnType<typeof runningAtHosts>>[number];

/** Somebody who was seen on the network. */
interface Seen {
  nick: string;
  host?: string | undefined;
  account?: string | undefined;
}

const mostRunning = 1_000;
const textHash = createHash('sha256').digest('hex');

/**
 * Keeps mutes and bans of a host in force. They spare who is identified there. But an account that was registered while
 * one ran does not end it: it holds for that account too.
 */
export class Held {
  readonly #options: GuardOptions;
  readonly #accounts: NewAccounts;
  /** What runs at each host. */
  #running = new Map<string, Running[]>();

  constructor(options: GuardOptions, accounts: NewAccounts) {
    this.#options = options;
    this.#accounts = accounts;
  }

  /** Looks up what runs, as of the position. */
  async look(after: Position | undefined): Promise<void> {
    const { log, read } = this.#options;
    const found = await read((sql, schema) => runningAtHosts(sql, schema, log.now(), mostRunning), after);
    this.#running = new Map();
    for (const one of found) {
      const host = hostOf(one.host!);
      this.#running.set(host, [...(this.#running.get(host) ?? []), one]);
    }
  }

  /** Somebody was seen: in a channel, or, without one, as they identified themselves. */
  async appeared(seen: Seen, channel?: string): Promise<void> {
    const { account, host } = seen;
    if (account === undefined || host === undefined) return;
    for (const running of this.#running.get(hostOf(host)) ?? []) {
      if (channel !== undefined && casefold(running.channel) !== casefold(channel)) continue;
      if (running.account !== null && casefold(running.account) === casefold(account)) continue;
      const registered = await this.#accounts.registeredAt(account);
      // the nick service tells seconds
      if (registered !== null && registered >= running.saidAt.getTime() - 1_000)
        await this.#hold({ ...seen, account, host }, running);
    }
  }

  async #hold(seen: Seen & { account: string }, running: Running): Promise<void> {
    const { log, logger } = this.#options;
    const { subject, person, channel } = running;
    const now = log.now();
    const seconds = Math.ceil((running.until!.getTime() - now.getTime()) / 1_000);
    if (seconds <= 0) return;
    const said = {
      ...seen,
      ref: `${newAccountPattern}:${casefold(seen.account)}:${running.ref}`,
      channel,
      ...(running.private ? { private: true as const } : {}),
      said_at: now.toISOString(),
      text_hash: textHash,
    };
    const hold = { is: 'hold' as const, subject, ref: running.ref, person, said, seconds };
    const { fact, position } = await log.handle(moderation, personDecider, hold, { by: guard });
    if (fact?.type !== 'incident.recorded') return;
    const { nick, account, ref, action, patterns } = fact.data;
    const host = seen.host ?? null;
    const pending = {
      id: position.seq,
      ref,
      subject,
      nick,
      host,
      account: account!,
      channel,
      patterns,
      action,
      seconds,
    };
    const outcome = await carryOut(this.#options, pending);
    logger.info(
      { id: position.seq, nick, account, channel, action, outcome },
      'mute or ban holds for a new account',
    );
  }
}

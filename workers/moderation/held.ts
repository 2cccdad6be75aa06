import { createHash } from 'node:crypto';
import { runningAtHosts } from '../../projections/moderation/running.js';
import type { Position } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { hostOf, moderation, personDecider, personOf } from '../../streams/moderation/index.js';
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
 * Keeps mutes and bans in force at the host of whoever they are for. Logging out does not end one: it holds for those
 * without an account there, from when one of them is seen. Nor does an account that was registered while it ran.
 * Accounts from before are spared.
 */
export class Held {
  readonly #options: GuardOptions;
  readonly #accounts: NewAccounts;
  readonly #bots: ReadonlySet<string>;
  /** What runs at each host. */
  #running = new Map<string, Running[]>();

  constructor(options: GuardOptions, accounts: NewAccounts) {
    this.#options = options;
    this.#accounts = accounts;
    this.#bots = new Set(options.bots.map(casefold));
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

  /** Somebody was seen: in a channel, or, without one, as they identified themselves or logged out. */
  async appeared(seen: Seen, channel?: string): Promise<void> {
    const { nick, account, host } = seen;
    if (host === undefined || this.#bots.has(casefold(nick))) return;
    for (const running of this.#running.get(hostOf(host)) ?? []) {
      if (channel !== undefined && casefold(running.channel) !== casefold(channel)) continue;
      if (account === undefined) {
        // a mask of those without an account is there already
        if (running.account !== null) await this.#hold({ ...seen, host }, running);
        continue;
      }
      if (running.account !== null && casefold(running.account) === casefold(account)) continue;
      const registered = await this.#accounts.registeredAt(account);
      // the nick service tells seconds
      if (registered !== null && registered >= running.saidAt.getTime() - 1_000)
        await this.#hold({ ...seen, host }, running);
    }
  }

  async #hold(seen: Seen & { host: string }, running: Running): Promise<void> {
    const { log, logger } = this.#options;
    const { subject, channel } = running;
    const isHost = seen.account === undefined;
    const pattern = isHost ? 'no-account' : 'new-account';
    // whoever is concerned may appeal
    const person = isHost ? personOf(seen) : running.person;
    const now = log.now();
    const seconds = Math.ceil((running.until!.getTime() - now.getTime()) / 1_000);
    if (seconds <= 0) return;
    const said = {
      ...seen,
      ref: `${pattern}:${seen.account === undefined ? 'host' : casefold(seen.account)}:${running.ref}`,
      channel,
      ...(running.private ? { private: true as const } : {}),
      said_at: now.toISOString(),
      text_hash: textHash,
    };
    const hold = { is: 'hold', subject, ref: running.ref, person, said, seconds, pattern } as const;
    const { fact, position } = await log.handle(moderation, personDecider, hold, { by: guard });
    if (fact?.type !== 'incident.recorded') return;
    const { nick, account = null, ref, action, patterns } = fact.data;
    const { host } = seen;
    const pending = {
      id: position.seq,
      ref,
      subject,
      nick,
      host,
      account,
      channel,
      patterns,
      action,
      seconds,
    };
    const outcome = await carryOut(this.#options, pending);
    logger.info(
      { id: position.seq, nick, account, channel, action, outcome },
      'mute or ban holds where its account is not identified',
    );
  }
}

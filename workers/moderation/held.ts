import { createHash } from 'node:crypto';
import { runningAtHosts, runningForNewAccounts } from '../../projections/moderation/running.js';
import { boundedCache, type Position } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type HeldPattern,
  hostOf,
  moderation,
  personDecider,
  personOf,
} from '../../streams/moderation/index.js';
import { carryOut } from './carry-out.js';
import { type GatewayHosts, mayBeGateway } from './gateway-hosts.js';
import type { InHand } from './in-hand.js';
import type { NewAccounts } from './new-accounts.js';
import { type GuardOptions, guard, type Seen } from './options.js';

/** Somebody who was seen in a channel, at a time in milliseconds since 1970. */
export type Met = Seen & { at: number };
type Running = Awaited<ReturnType<typeof runningAtHosts>>[number] & {
  /** The reference of the incident that it holds for a new account by. */
  by?: string;
};

const mostRunning = 1_000;
/** Hosts where muted or banned accounts were seen; the one where none was for longest is forgotten. */
const mostHosts = 10_000;
/** For how long the guard remembers who it saw, in milliseconds, and how many at most. */
const latelyMs = 30_000;
const mostLately = 1_000;
const textHash = createHash('sha256').digest('hex');

/**
 * Keeps mutes and bans in force at the hosts of whoever they are for: where they spoke, and where their account was seen
 * since. Logging out does not end one: it holds for those without an account there, from when one of them is seen. Nor
 * does an account that was registered while it ran. Accounts from before are spared. An account and the gateway's agent of
 * the same owner are one person: what runs for one of them holds for the other.
 */
export class Held {
  readonly #options: GuardOptions;
  readonly #accounts: NewAccounts;
  readonly #gateway: GatewayHosts;
  readonly #inHand: InHand;
  /** What is being kept in force now, by the reference of its incident. */
  readonly #holding = new Map<string, Promise<void>>();
  readonly #bots: ReadonlySet<string>;
  /** What runs, by the host where it was earned and by the account that it is for. */
  #running = new Map<string, Running[]>();
  #ofAccounts = new Map<string, Running[]>();
  /** What runs for an account (casefolded) that was registered meanwhile. */
  #ofNewAccounts = new Map<string, Running[]>();
  /** Accounts (casefolded) that something ran for when they were seen, by the host where that was. */
  readonly #seenAt = boundedCache<string, Set<string>>(mostHosts);
  /**
   * Who identified or logged out lately, by nick (casefolded), as they are since. That is heard sooner than what they did before
   * is read from the record.
   */
  readonly #heard = boundedCache<string, Seen>(mostLately, { ttl: latelyMs });
  /**
   * Who was seen in channels lately, by channel and nick (casefolded). What runs since before that may be looked up later.
   */
  readonly #met = boundedCache<string, { seen: Met; channel: string }>(mostLately, { ttl: latelyMs });
  /** The ids of what ran at the last look. */
  #known: ReadonlySet<number> = new Set();

  constructor(options: GuardOptions, accounts: NewAccounts, gateway: GatewayHosts, inHand: InHand) {
    this.#options = options;
    this.#accounts = accounts;
    this.#gateway = gateway;
    this.#inHand = inHand;
    this.#bots = new Set(options.bots.map(casefold));
  }

  /** Looks up what runs, as of the position. */
  async look(after: Position | undefined): Promise<void> {
    const { log, read } = this.#options;
    const now = log.now();
    const [found, forNew] = await read(
      async (sql, schema) => [
        await runningAtHosts(sql, schema, now, mostRunning),
        await runningForNewAccounts(sql, schema, now, mostRunning),
      ],
      after,
    );
    this.#running = grouped(found.map((one) => [hostOf(one.host!), one]));
    this.#ofAccounts = grouped(
      found.flatMap((one) => (one.account === null ? [] : [[casefold(one.account), one]])),
    );
    const byRef = new Map(found.map((one) => [one.ref, one]));
    this.#ofNewAccounts = grouped(
      forNew.flatMap(({ account, first, ref }) => {
        const running = byRef.get(first);
        return running ? [[casefold(account), { ...running, by: ref }]] : [];
      }),
    );
    const ids = [...found, ...forNew].map(({ id }) => id);
    for (const seen of [...this.#heard.values()]) await this.#appeared(seen);
    if (ids.some((id) => !this.#known.has(id)))
      for (const { seen, channel } of [...this.#met.values()])
        if (!this.#heard.has(casefold(seen.nick))) await this.#appeared(seen, channel, seen.at);
    // not before: where one of them failed, all are looked at again
    this.#known = new Set(ids);
  }

  /** Somebody has identified or logged out. */
  async heard(seen: Seen): Promise<void> {
    this.#heard.set(casefold(seen.nick), seen);
    await this.#appeared(seen);
  }

  /** What runs at a host. */
  #at(host: string): Running[] {
    const earned = this.#running.get(host) ?? [];
    const brought = [...(this.#seenAt.get(host) ?? [])].flatMap((one) => this.#ofAccounts.get(one) ?? []);
    return [...earned, ...brought.filter((one) => !earned.includes(one))];
  }

  /** Remembers where an account was seen that is muted or banned, or its owner through the gateway. */
  async #see(seen: Seen, host: string): Promise<void> {
    const { nick, account } = seen;
    const name = casefold(account ?? nick);
    if (!this.#ofAccounts.has(name)) return;
    if (account === undefined && !(await this.#gateway.isOwner(seen))) return;
    const names = this.#seenAt.get(host) ?? new Set();
    if (names.has(name)) return;
    this.#seenAt.set(host, names.add(name));
    for (const other of [...this.#heard.values()])
      if (other.host !== undefined && hostOf(other.host) === host) await this.#appeared(other);
  }

  /** What runs for the owner of an account because of what they did through the gateway. */
  async #atGateway(account: string): Promise<Running[]> {
    if (![...this.#running.keys()].some(mayBeGateway)) return [];
    return (await this.#gateway.of(account)).flatMap((host) => this.#running.get(host) ?? []);
  }

  /** What runs for an agent of the gateway because the account of its owner is new. */
  async #forAgent(seen: Seen): Promise<Running[]> {
    const found = this.#ofNewAccounts.get(casefold(seen.nick));
    return found && (await this.#gateway.isOwner(seen)) ? found : [];
  }

  /** Somebody came into a channel or spoke there. Where this fails, the next look makes up for it. */
  async appeared(seen: Met, channel: string): Promise<void> {
    this.#met.set(`${casefold(channel)} ${casefold(seen.nick)}`, { seen, channel });
    try {
      await this.#appeared(seen, channel);
    } catch (error) {
      this.#known = new Set();
      throw error;
    }
  }

  /** Keeps in force what runs for somebody: in a channel or in all, and if they were met, only what ran `at` that time. */
  async #appeared(seen: Seen, channel?: string, at?: number): Promise<void> {
    const { nick, account, host } = seen;
    if (host === undefined || this.#bots.has(casefold(nick))) return;
    const place = hostOf(host);
    await this.#see(seen, place);
    const own = account === undefined ? await this.#forAgent(seen) : await this.#atGateway(account);
    for (const running of new Set([...this.#at(place), ...own])) {
      if (at !== undefined && running.saidAt.getTime() > at) continue;
      if (channel !== undefined && casefold(running.channel) !== casefold(channel)) continue;
      if (account === undefined) {
        // a mask of those without an account is there already
        if (running.account !== null || own.includes(running))
          await this.#hold({ ...seen, host }, running, 'no-account');
        continue;
      }
      if (running.account !== null && casefold(running.account) === casefold(account)) continue;
      if (own.includes(running)) {
        await this.#hold({ ...seen, host }, running, 'same-owner');
        continue;
      }
      const registered = await this.#accounts.registeredAt(account);
      // the nick service tells seconds
      if (registered !== null && registered >= running.saidAt.getTime() - 1_000)
        await this.#hold({ ...seen, host }, running, 'new-account');
    }
  }

  /** Keeps something in force for somebody: once, however many look at the same time. */
  async #hold(seen: Seen & { host: string }, running: Running, pattern: HeldPattern): Promise<void> {
    const whose = seen.account === undefined ? placeOf(seen.host, running) : casefold(seen.account);
    const ref = `${pattern}:${whose}:${running.by ?? running.ref}`;
    const under = this.#holding.get(ref);
    if (under) return await under;
    this.#inHand.take(ref);
    const work = this.#holdBy(ref, seen, running, pattern).finally(() => {
      this.#holding.delete(ref);
      this.#inHand.leave(ref);
    });
    this.#holding.set(ref, work);
    await work;
  }

  async #holdBy(
    ref: string,
    seen: Seen & { host: string },
    running: Running,
    pattern: HeldPattern,
  ): Promise<void> {
    const { log, logger } = this.#options;
    const { subject, channel } = running;
    // whoever is concerned may appeal
    const person = pattern === 'new-account' ? running.person : personOf(seen);
    const now = log.now();
    const seconds = Math.ceil((running.until!.getTime() - now.getTime()) / 1_000);
    if (seconds <= 0) return;
    const said = {
      ...seen,
      ref,
      channel,
      ...(running.private ? { private: true as const } : {}),
      said_at: now.toISOString(),
      text_hash: textHash,
    };
    const hold = { is: 'hold', subject, ref: running.ref, person, said, seconds, pattern } as const;
    const { fact, position } = await log.handle(moderation, personDecider, hold, { by: guard });
    if (fact?.type !== 'incident.recorded') return;
    const { nick, account = null, action, patterns } = fact.data;
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
    this.#inHand.answer(ref);
    logger.info(
      { id: position.seq, nick, account, channel, action, outcome },
      'mute or ban holds where its account is not identified',
    );
  }
}

/** A host in references, whose parts are separated by colons: where it was earned, or another. */
const placeOf = (host: string, running: Running): string =>
  hostOf(host) === hostOf(running.host!) ? 'host' : hostOf(host).replaceAll(':', '.');

function grouped(entries: readonly (readonly [string, Running])[]): Map<string, Running[]> {
  const groups = new Map<string, Running[]>();
  for (const [key, one] of entries) {
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

import { casefold } from '../../../streams/irc-grammar.js';
import { type Granted, type Intended, payments } from '../../../streams/payments/index.js';
import type { SimulatedChain } from '../http/chain.js';
import type { IrcNetwork } from '../irc/network.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Stage } from '../scenario.js';
import { type Payment, payTo, price } from './payers.js';

/** A channel and how many can be in it. */
interface Sold {
  name: string;
  maxSlots: number;
}

/** What is recorded of one channel. */
interface Places {
  maxSlots: number;
  /** By payment. */
  reserved: Map<string, { nick: string; until: number }>;
  sessions: Map<string, Granted>;
  owed: Set<string>;
}

/** How soon after the end of a session its nick must be removed, even by a newly started process. */
const outWithinMs = 30_000;
/** Clocks of processes differ by so much from that of the log. */
const slackMs = 1_500;

/** The record of payments, compared with the answers, the chain and the members of the channels. */
export class Paid {
  readonly #stage: Stage;
  readonly #chain: SimulatedChain;
  readonly #network: IrcNetwork;
  readonly #facts: StoredFacts<typeof payments>;
  readonly #places: Map<string, Places>;
  readonly #intended = new Map<string, Intended>();
  readonly #granted = new Map<string, Granted>();
  readonly #refused = new Map<string, string>();
  readonly #ended = new Set<string>();

  constructor(
    stage: Stage,
    server: SimulatedLogServer,
    around: { chain: SimulatedChain; network: IrcNetwork; sold: readonly Sold[] },
  ) {
    this.#stage = stage;
    this.#chain = around.chain;
    this.#network = around.network;
    this.#facts = new StoredFacts(server, payments);
    const none = ({ maxSlots }: Sold): Places => ({
      maxSlots,
      reserved: new Map(),
      sessions: new Map(),
      owed: new Set(),
    });
    this.#places = new Map(around.sold.map((channel) => [channel.name, none(channel)]));
  }

  /** Payments with an intent that have not ended; empty without any. */
  open(mayBeOpen: (payment: string) => boolean): string {
    this.#read();
    const open = [...this.#intended.values()]
      .filter(({ payment }) => !this.#granted.has(payment) && !this.#refused.has(payment))
      .filter(({ payment }) => !mayBeOpen(payment))
      .map(({ payment }) => payment.slice(0, 6));
    return open.join(', ');
  }

  /** Sessions that have not ended, and last for at least this long. */
  live(forMs = 0): Granted[] {
    this.#read();
    const until = this.#stage.world.now + forMs;
    return [...this.#places.values()].flatMap(({ sessions }) =>
      [...sessions.values()].filter(({ expires_at }) => Date.parse(expires_at) > until),
    );
  }

  /** The nicks that places in a channel are reserved for now, by payment. */
  kept(channel: string): Map<string, string> {
    this.#read();
    const { now } = this.#stage.world;
    const kept = [...this.#places.get(channel)!.reserved].filter(([, { until }]) => until > now);
    return new Map(kept.map(([payment, { nick }]) => [payment, nick]));
  }

  /** Whether a nick is in a channel, with voice. */
  isIn({ channel, nick }: { channel: string; nick: string }): boolean {
    return this.#members(channel).some(
      ([who, status]) => casefold(who) === casefold(nick) && status.has('v'),
    );
  }

  /** Everybody in a paid channel has a session, or had one a moment ago. */
  look(bots: readonly string[]): void {
    this.#read();
    const { now } = this.#stage.world;
    for (const [channel] of this.#places)
      for (const [nick] of this.#members(channel)) {
        if (bots.includes(nick)) continue;
        const isLet = [...this.#granted.values()].some(
          (one) =>
            one.channel === channel &&
            casefold(one.nick) === casefold(nick) &&
            Date.parse(one.expires_at) + outWithinMs > now,
        );
        this.#stage.check('who has no session is out in time', isLet, () => `${nick} in ${channel}`);
      }
  }

  /** Nobody is in there but our bots. */
  isEmpty(bots: readonly string[]): boolean {
    return [...this.#places.keys()].every((channel) =>
      this.#members(channel).every(([nick]) => bots.includes(nick)),
    );
  }

  /** `mayBeOpen`: payments whose fate may never become known. */
  judge(presented: readonly Payment[], mayBeOpen: (payment: string) => boolean): void {
    this.#read();
    const stage = this.#stage;
    for (const payment of presented) this.#judgePayment(payment);
    for (const [channel, { owed, sessions }] of this.#places) {
      const kept = [...this.kept(channel).keys()].filter((payment) => !mayBeOpen(payment));
      const none = (invariant: string, ids: string[]) =>
        stage.check(invariant, ids.length === 0, () => `${channel}: ${ids.join(', ')}`);
      none('no place is kept for nobody', kept);
      none('no session is owed for ever', [...owed]);
      none('every session is ended', [...sessions.keys()]);
    }
    stage.count('granted', stage.counts, this.#granted.size);
    stage.count('refused', stage.counts, this.#refused.size);
  }

  #judgePayment({ id, signed, sessions, isRefused, nick }: Payment): void {
    const stage = this.#stage;
    const intended = this.#intended.get(id);
    const granted = this.#granted.get(id);
    const charged = this.#chain.moved.filter(
      ({ from, nonce }) => from === signed.from && nonce === signed.nonce,
    );
    const told = () =>
      `${id.slice(0, 6)} of ${nick}: charged ${charged.length}, ${granted?.session_id ?? this.#refused.get(id) ?? 'open'}`;
    stage.check('no payment is charged twice', charged.length <= 1, told);
    for (const { to, value } of charged)
      stage.check(
        'what is charged is the price',
        to.toLowerCase() === payTo.toLowerCase() && value === String(price),
        told,
      );
    if (charged.length > 0) {
      stage.check('what is charged was intended', intended !== undefined, told);
      stage.check('what is charged is granted', granted !== undefined, told);
    } else stage.check('what is granted was charged', granted === undefined, told);
    const isSame = [...sessions].every((session) => session === granted?.session_id);
    stage.check('what was answered is recorded', isSame, () => `${told()}, told ${[...sessions].join(', ')}`);
    stage.check('who is told of a refusal is not charged', !isRefused || charged.length === 0, told);
    if (charged.length > 0) stage.count('charged');
  }

  #members(channel: string): [string, Set<string>][] {
    const members = this.#network.servers[0]!.channel(channel)?.members ?? new Map();
    return [...members].map(([{ nick }, status]) => [nick, status]);
  }

  #read(): void {
    const stage = this.#stage;
    for (const { type, data, at, seq } of this.#facts.read()) {
      const told = () => `${seq}: ${type} ${JSON.stringify(data)}`;
      if (type === 'payment.intended') {
        stage.check('a payment is intended once', !this.#intended.has(data.payment), told);
        this.#intended.set(data.payment, data);
        continue;
      }
      const places = this.#places.get(data.channel)!;
      if (type === 'slot.reserved') {
        places.reserved.set(data.payment, { nick: data.nick, until: Date.parse(data.until) });
        this.#judgePlaces(places, data.payment, at.getTime(), told);
      } else if (type === 'slot.released') places.reserved.delete(data.payment);
      else if (type === 'payment.granted') {
        this.#judgeGrant(data, places, told);
        places.reserved.delete(data.payment);
        places.owed.delete(data.payment);
        places.sessions.set(data.session_id, data);
        this.#judgePlaces(places, data.payment, Date.parse(data.started_at), told);
      } else if (type === 'payment.owed') {
        stage.check('what has an end is not owed', !this.#hasEnd(data.payment), told);
        places.reserved.delete(data.payment);
        places.owed.add(data.payment);
        stage.count('owed');
      } else if (type === 'payment.refused') {
        stage.check('a payment has one end', !this.#hasEnd(data.payment), told);
        places.reserved.delete(data.payment);
        places.owed.delete(data.payment);
        this.#refused.set(data.payment, data.reason);
      } else {
        const session = places.sessions.get(data.session_id);
        stage.check('a session ends once', session !== undefined && !this.#ended.has(data.session_id), told);
        const isOver = session !== undefined && Date.parse(session.expires_at) <= at.getTime() + slackMs;
        stage.check('a session does not end early', isOver, told);
        this.#ended.add(data.session_id);
        places.sessions.delete(data.session_id);
      }
    }
  }

  #hasEnd(payment: string): boolean {
    return this.#granted.has(payment) || this.#refused.has(payment);
  }

  #judgeGrant(granted: Granted, { sessions }: Places, told: () => string): void {
    const stage = this.#stage;
    const { payment, nick, channel, started_at } = granted;
    stage.check('a payment has one end', !this.#hasEnd(payment), told);
    const intended = this.#intended.get(payment);
    const isSame = intended?.nick === nick && intended.channel === channel;
    stage.check('what is granted is what was intended', isSame, told);
    const others = [...sessions.values()].filter(
      (one) => one.nick === nick && Date.parse(one.expires_at) > Date.parse(started_at),
    );
    stage.check('a nick has one session in a channel', others.length === 0, told);
    this.#granted.set(payment, granted);
  }

  /** There are never more members and reservations than places. */
  #judgePlaces({ maxSlots, sessions, reserved }: Places, own: string, at: number, told: () => string): void {
    const live = [...sessions.values()].filter(({ expires_at }) => Date.parse(expires_at) > at).length;
    const kept = [...reserved].filter(
      ([payment, { until }]) => payment !== own && until > at + slackMs,
    ).length;
    const isOwn = [...sessions.values()].some(({ payment }) => payment === own) ? 0 : 1;
    this.#stage.check('no place is sold twice', live <= maxSlots, told);
    this.#stage.check('no place is kept twice', live + kept + isOwn <= maxSlots, told);
  }
}

import { createHmac } from 'node:crypto';
import type { Recorded } from '../../../streams/core/index.js';
import { type IdentityFact, identity, pushSubject } from '../../../streams/identity/index.js';
import type { Asked } from '../http/outside.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Stage } from '../scenario.js';

/** A change that reached the receiver, and its answer. */
interface Arrival {
  at: number;
  process: string;
  body: string;
  status: number;
}

/** What became of telling a change, as it is recorded. */
type Outcome = Recorded<Extract<IdentityFact, { type: 'push.delivered' | 'push.given_up' }>>;

/** What the receiver has to be told of. */
const told = /^identity\.(linked|verified|agent_changed|unlinked)$/;
/** The receiver's answers for a body that it will never take. */
export const neverAgain = [400, 409, 410, 422];

/** The receiver of changes: what it was told, compared with the record. */
export class ToldChanges {
  readonly secret = 'a secret of both';
  /** How long a change is tried, by its age. */
  readonly giveUpMs: number;
  /** Its answers to a nick's changes while it refuses them. */
  readonly moods = new Map<string, number>();
  readonly #stage: Stage;
  readonly #facts: StoredFacts<typeof identity>;
  readonly #changes: Recorded<IdentityFact>[] = [];
  readonly #outcomes = new Map<number, Outcome[]>();
  readonly #arrivals = new Map<string, Arrival[]>();

  constructor(stage: Stage, server: SimulatedLogServer, giveUpMs: number) {
    this.#stage = stage;
    this.#facts = new StoredFacts(server, identity);
    this.giveUpMs = giveUpMs;
  }

  /** How it answers. */
  serve({ process, headers, body }: Asked): Response {
    const stage = this.#stage;
    const signature = `sha256=${createHmac('sha256', this.secret).update(body).digest('hex')}`;
    stage.check('what is sent is signed', headers.get('x-relay-signature') === signature, body);
    const { event_id: id, payload } = JSON.parse(body) as { event_id: string; payload: { nick: string } };
    const status = this.moods.get(payload.nick) ?? 202;
    const arrivals = this.#arrivals.get(id) ?? [];
    arrivals.push({ at: stage.world.now, process, body, status });
    this.#arrivals.set(id, arrivals);
    stage.world.tell('receiver', `${payload.nick} ${id} of ${process}: ${status}`);
    return new Response('noted', { status });
  }

  /** Changes without a recorded outcome; empty without any. */
  open(): string {
    this.#read();
    const open = this.#changes.filter(({ seq }) => !this.#outcomes.has(seq));
    return open.map(({ seq, type, data }) => `${seq} ${type} of ${data.nick}`).join(', ');
  }

  judge(calmFrom: number): void {
    this.#read();
    const ids = new Set(this.#changes.map(({ id }) => id));
    for (const [id, [first]] of this.#arrivals)
      this.#stage.check('what is sent is recorded', ids.has(id), first!.body);
    for (const change of this.#changes) {
      this.#judgeBodies(change);
      this.#judgeOutcome(change);
      if (change.at.getTime() >= calmFrom) this.#judgeCalm(change);
    }
    for (const nick of new Set(this.#changes.map(({ data }) => data.nick)))
      this.#judgeOrder(this.#changes.filter(({ data }) => data.nick === nick));
    this.#judgeWallets();
    const inCalm = [...this.#arrivals.values()].flat().filter(({ at }) => at >= calmFrom);
    const senders = new Set(inCalm.map(({ process }) => process));
    this.#stage.check('one process sends', senders.size <= 1, [...senders].join(', '));
  }

  /** A wallet that has signed belongs to one nick, and to nobody else until that link ends. */
  #judgeWallets(): void {
    const owners = new Map<string, string>();
    for (const { type, seq, data } of this.#changes) {
      const { nick, wallet_address: wallet } = data as { nick: string; wallet_address: string };
      const owner = owners.get(wallet) ?? nick;
      const told = () => `${seq}: ${type} of ${nick}, while ${wallet} is that of ${owner}`;
      if (type !== 'identity.unlinked') this.#stage.check('a wallet has one nick', owner === nick, told);
      if (type === 'identity.verified') owners.set(wallet, nick);
      else if (type === 'identity.unlinked' && owner === nick) owners.delete(wallet);
    }
  }

  #read(): void {
    for (const fact of this.#facts.read()) {
      if (fact.subject !== pushSubject) {
        if (told.test(fact.type)) this.#changes.push(fact);
        continue;
      }
      const outcome = fact as Outcome;
      const known = this.#outcomes.get(outcome.data.seq) ?? [];
      this.#outcomes.set(outcome.data.seq, [...known, outcome]);
    }
  }

  #judgeBodies({ id, type, data, at }: Recorded<IdentityFact>): void {
    const [first, ...repeats] = this.#arrivals.get(id) ?? [];
    if (!first) return;
    const body = JSON.parse(first.body) as Record<string, unknown> & { payload: Record<string, unknown> };
    const { nick, wallet_address } = data as { nick: string; wallet_address: string };
    const { event_type, created_at, payload } = body;
    const isSame =
      [event_type, created_at, payload.nick].join(' ') === [type, at.toISOString(), nick].join(' ') &&
      payload.wallet_address === wallet_address &&
      payload.verified === (/verified|agent/.test(type) ? 1 : 0) &&
      payload.sync_version === ('sync_version' in data ? data.sync_version : 0);
    this.#stage.check('what is sent is what is recorded', isSame, first.body);
    for (const repeat of repeats)
      this.#stage.check('a repeat is the same', repeat.body === first.body, repeat.body);
    this.#stage.count('repeats', this.#stage.counts, repeats.length);
  }

  #judgeOutcome({ id, seq, at }: Recorded<IdentityFact>): void {
    const stage = this.#stage;
    const statuses = (until: Date) =>
      (this.#arrivals.get(id) ?? []).filter((one) => one.at <= until.getTime() + 1).map((one) => one.status);
    for (const outcome of this.#outcomes.get(seq) ?? []) {
      const { type, data } = outcome;
      const told = () => `${seq}: ${JSON.stringify(data)}, ${JSON.stringify(this.#arrivals.get(id) ?? [])}`;
      const said = statuses(outcome.at);
      if (type === 'push.delivered') stage.check('what is delivered was taken', said.includes(202), told);
      else {
        const isOld = outcome.at.getTime() - at.getTime() >= this.giveUpMs;
        const isRefused = said.some((status) => neverAgain.includes(status));
        stage.check('what is given up was refused, or is too old', isRefused || isOld, told);
      }
      stage.count(type);
    }
  }

  /** While nothing fails a change is told once, and at once. */
  #judgeCalm({ id, seq, at }: Recorded<IdentityFact>): void {
    const arrivals = this.#arrivals.get(id) ?? [];
    const told = () => `${seq}: ${JSON.stringify(arrivals)}`;
    this.#stage.check('in calm a change is told once', arrivals.length === 1, told);
    const [outcome] = this.#outcomes.get(seq) ?? [];
    const isSoon = outcome !== undefined && outcome.at.getTime() - at.getTime() <= 5_000;
    this.#stage.check('in calm a change is told at once', isSoon, told);
  }

  /** No change of a nick is told before the one before it has ended. */
  #judgeOrder(changes: Recorded<IdentityFact>[]): void {
    let over = 0;
    for (const { id, seq, at } of changes) {
      const arrivals = this.#arrivals.get(id) ?? [];
      const [first] = arrivals;
      if (first)
        this.#stage.check(
          'changes of a nick come in order',
          first.at >= over,
          () => `${seq} at ${first.at}, not ${over}`,
        );
      const isEnd = ({ status }: Arrival) => status === 202 || neverAgain.includes(status);
      over = Math.max(
        over,
        Math.min(arrivals.find(isEnd)?.at ?? Number.POSITIVE_INFINITY, at.getTime() + this.giveUpMs),
      );
    }
  }
}

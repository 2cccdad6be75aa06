import type { Received } from '../../../src/operations/events/reception.js';
import { pause } from '../../../streams/core/index.js';
import type { MarketEvent } from '../../../streams/events/index.js';
import type { Random } from '../random.js';
import type { Stage } from '../scenario.js';

/** Somewhere to post to; the answer of a process that is gone by then never arrives. */
export interface Receiver {
  receive(event: MarketEvent): Promise<Received>;
  isDead(): boolean;
}

/** What a producer was told of one event. */
export interface Posted {
  id: string;
  isOurs: boolean;
  /** It was accepted, or known already, so many times. */
  accepted: number;
  known: number;
  ignored: number;
}

/** Whose events came from here: they are not taken back. */
const ownSource = 'relay-network';
/** How often a producer tries before it gives an event up. */
const mostTries = 8;

/** What is in the text of an event, and in no other one's: `e17a`, and `e17b` where it came again with another body. */
export const markOf = (text: string): number | undefined => {
  const [, number] = /\be(\d+)[ab]\b/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number);
};

/** Producers of the marketplace: they post events, and post again when they had no answer. */
export class Producers {
  readonly posted: Posted[] = [];
  readonly #stage: Stage;
  readonly #receivers: () => (Receiver | undefined)[];
  readonly #underWay = new Set<Promise<void>>();

  constructor(stage: Stage, receivers: () => (Receiver | undefined)[]) {
    this.#stage = stage;
    this.#receivers = receivers;
  }

  /** Somebody posts an event of any kind about one of the tasks, or one of a kind. */
  post(random: Random, tasks: readonly string[], wanted?: Kind): void {
    const number = this.posted.length;
    const kind = wanted ?? random.pick(kinds);
    const isOurs = wanted === undefined && random.chance(0.03);
    const of = (variant: string) => ({
      event_id: `event-${number}`,
      source: isOurs ? ownSource : 'marketplace',
      ...kind(`e${number}${variant}`, random.pick(tasks), random),
    });
    const posted = { id: `event-${number}`, isOurs, accepted: 0, known: 0, ignored: 0 };
    this.posted.push(posted);
    const event = of('a');
    this.#follow(this.#deliver(posted, event, random.fork()));
    const again = random.int(0, 19);
    if (again > 2) return;
    // the same once more: at once through whichever process, or with another body under the same id
    const later = again === 0 ? 0 : random.int(0, 8_000);
    const second = again === 1 ? of('b') : event;
    const chance = random.fork();
    this.#follow(pause(later).then(() => this.#deliver(posted, second, chance)));
  }

  /** Resolves when no producer waits for anything any more. */
  async atRest(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #follow(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #deliver(posted: Posted, event: MarketEvent, random: Random): Promise<void> {
    const stage = this.#stage;
    for (let tries = 0; tries < mostTries; tries++) {
      const receiver = random.pick(this.#receivers());
      if (!receiver) {
        await pause(random.int(200, 1_500));
        continue;
      }
      try {
        const received = await receiver.receive(event);
        if (!receiver.isDead()) {
          stage.count(`answer ${received.status}`);
          stage.world.tell('producer', `${posted.id}: ${received.status}`);
          if (received.status === 'accepted') posted.accepted += 1;
          else if (received.status === 'ignored') posted.ignored += 1;
          else posted.known += 1;
          return;
        }
      } catch (error) {
        const { kind, code } = error as { kind?: string; code?: string };
        const found = () => `${posted.id}: ${(error as Error).stack}`;
        stage.check('events are refused in known ways', kind === 'unavailable', found);
        stage.count(`answer ${code}`);
      }
      await pause(random.int(100, 3_000));
    }
    stage.count('given up by the producer');
  }
}

type Kind = (mark: string, task: string, random: Random) => Pick<MarketEvent, 'event_type' | 'payload'>;

/** A worker is assigned: the task's room is opened. */
export const assignment: Kind = (mark, id, random) => ({
  event_type: 'task.assigned',
  payload: { id, title: 'A task', publisher_nick: random.pick(['alice', 'bob']), worker_nick: mark },
});

const kinds: readonly Kind[] = [
  assignment,
  (mark, id) => ({ event_type: 'payment.settled', payload: { id, bounty_usdc: 5, tx_hash: mark } }),
  (mark, id) => ({ event_type: 'rating.created', payload: { id, score: 4, comment: mark } }),
  (mark, id) => ({ event_type: 'task.disputed', payload: { id, dispute_case_id: '7', reason: mark } }),
  (mark, id, random) => ({
    event_type: random.chance(0.7) ? 'task.rejected' : 'task.completed',
    payload: { id, reason: mark, worker_nick: mark },
  }),
  (mark, id, random) => {
    const [location, category] = [random.pick(['Porto, PT', 'Zurich']), random.pick(['photo', 'survey'])];
    return { event_type: 'task.published', payload: { id, title: mark, location, category } };
  },
  (mark, _id, random) => ({
    event_type: 'relay.handoff',
    payload: { relay_id: random.pick(['r1', 'r2']), leg_number: 1, from_worker: 'w', to_worker: mark },
  }),
  (mark) => ({ event_type: 'never.heard.of', payload: { note: mark } }),
];

import { setTimeout as sleep } from 'node:timers/promises';
import { postEvent } from '../support/app.js';

/** An event of the load, and when it was accepted; times are those of `performance.now()`. */
export interface LoadedEvent {
  /** What its lines are recognised by. */
  id: string;
  channels: string[];
  postedAt: number;
  acceptedAt: number;
}

/** What a producer got for one post: its status, 0 for no answer at all. */
export interface Answer {
  status: number;
  code: unknown;
  ms: number;
  at: number;
}

/** Producers side by side; each channel belongs to one of them, so its order is known without asking anybody. */
const producers = 10;
const againMs = 20;
/** How long a producer repeats one event before the run is given up, in milliseconds. */
const patienceMs = 180_000;

/** Signed events over many channels, each repeated until it is accepted, and what became of every post. */
export class Load {
  /** Accepted events by id; those of one channel in the order in which they were posted. */
  readonly events = new Map<string, LoadedEvent>();
  readonly answers: Answer[] = [];
  readonly #urls: string[];
  readonly #categories: number;
  #next = 0;
  #checks = new Set<() => void>();

  constructor(urls: string[], categories: number) {
    this.#urls = urls;
    this.#categories = categories;
  }

  /** The channels in which lines are shown: the feed, which gets every event, and one for each category. */
  get channels(): string[] {
    return ['#bounties', ...Array.from({ length: this.#categories }, (_, n) => `#${categoryOf(n)}`)];
  }

  /**
   * Posts so many more events, or as many as come until `signal` aborts. One call at a time: a second one would
   * break the order of the channels.
   */
  async post(
    count: number,
    options: { parallel?: number; perSecond?: number; signal?: AbortSignal } = {},
  ): Promise<void> {
    const { parallel = producers, perSecond, signal } = options;
    const first = this.#next;
    const began = performance.now();
    const produce = async (producer: number) => {
      for (let n = first; n < first + count && !signal?.aborted; n++) {
        if ((n % this.#categories) % parallel !== producer) continue;
        this.#next = Math.max(this.#next, n + 1);
        const due = perSecond === undefined ? 0 : began + ((n - first) * 1_000) / perSecond;
        if (due > performance.now()) await sleep(due - performance.now());
        await this.send(n);
      }
    };
    await Promise.all(Array.from({ length: parallel }, (_, producer) => produce(producer)));
  }

  /** Resolves when so many events have been accepted. */
  async reached(count: number): Promise<void> {
    while (this.events.size < count) {
      await new Promise<void>((resolve) => {
        this.#checks.add(resolve);
      });
    }
  }

  /** Resolves when so many posts have got an answer, whatever it was. */
  async answered(count: number, wanted: (answer: Answer) => boolean): Promise<void> {
    while (this.answers.filter(wanted).length < count) {
      await new Promise<void>((resolve) => {
        this.#checks.add(resolve);
      });
    }
  }

  /** Posts one event until it is accepted, through each of the addresses in turn. */
  async send(n: number, category = n % this.#categories): Promise<LoadedEvent> {
    const { id, event } = eventOf(n, categoryOf(category));
    const postedAt = performance.now();
    for (let attempt = 0; ; attempt++) {
      const url = this.#urls[(n + attempt) % this.#urls.length]!;
      const answer = await this.attempt(url, event);
      if (answer.status === 202 || answer.status === 200) {
        const channels = ['#bounties', `#${categoryOf(category)}`];
        const loaded = { id, channels, postedAt, acceptedAt: performance.now() };
        this.events.set(id, loaded);
        this.#wake();
        return loaded;
      }
      if (answer.status >= 400 && answer.status < 500) throw new Error(`refused: ${JSON.stringify(answer)}`);
      if (performance.now() - postedAt > patienceMs) {
        throw new Error(`${id} was not accepted in ${patienceMs} ms; last: ${JSON.stringify(answer)}`);
      }
      await sleep(againMs);
    }
  }

  /** One post, whatever comes of it. */
  async attempt(url: string, event: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const began = performance.now();
    const { status, body } = await postEvent(url, event, { headers, timeoutMs: 60_000 }).catch(() => ({
      status: 0,
      body: {} as Record<string, unknown>,
    }));
    const at = performance.now();
    const answer = { status, code: body.code ?? body.status, ms: at - began, at };
    this.answers.push(answer);
    this.#wake();
    return answer;
  }

  /** A number that no event of the load has yet. */
  reserve(): number {
    return this.#next++;
  }

  #wake(): void {
    for (const check of this.#checks) check();
    this.#checks.clear();
  }
}

/** The event with a number: a published task of a category. */
export function eventOf(n: number, channel: string): { id: string; event: Record<string, unknown> } {
  const id = `e${String(n).padStart(7, '0')}`;
  const payload = { id, title: `Task ${n}`, bounty_usdc: 5, category: channel.replace(/^cat-/, '') };
  return {
    id,
    event: { event_id: `evt-${id}`, event_type: 'task.published', source: 'marketplace', payload },
  };
}

/** The id that a line of the load begins with; undefined for any other line. */
export function idOf(text: string): string | undefined {
  return /^\[NEW\] (e\d{7})/.exec(text)?.[1];
}

function categoryOf(n: number): string {
  return `cat-c${String(n).padStart(2, '0')}`;
}

import { randomUUID } from 'node:crypto';
import type { NatsConnection, Subscription } from 'nats';
import { isEnding } from '../../../streams/core/index.js';

interface Word {
  process: string;
  viewers: number;
}

const subject = 'relay.viewers';
const tellMs = 5_000;
/** A process that has not been heard for so long is gone, and its viewers with it. */
const silenceMs = 12_000;

/** How many clients are attached to the live stream, over all processes: each tells the others its own number. */
export class Viewers {
  readonly #connection: NatsConnection;
  readonly #process = randomUUID();
  readonly #others = new Map<string, { viewers: number; heardAt: number }>();
  readonly #subscription: Subscription;
  readonly #timer: NodeJS.Timeout;
  #here = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) this.#hear(message.json<Word>());
      },
    });
    this.#timer = setInterval(() => this.#tell(), tellMs);
    this.#timer.unref();
    this.#tell();
  }

  /** Takes note that a client came (1) or went (-1) here. */
  change(step: 1 | -1): void {
    this.#here += step;
    this.#tell();
  }

  /** All of them, as far as the processes have been heard. */
  get count(): number {
    const since = Date.now() - silenceMs;
    let count = this.#here;
    for (const [process, { viewers, heardAt }] of this.#others) {
      if (heardAt > since) count += viewers;
      else this.#others.delete(process);
    }
    return count;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#here = 0;
    this.#tell();
    this.#subscription.unsubscribe();
  }

  #hear({ process, viewers }: Word): void {
    if (process === this.#process) return;
    const isNew = !this.#others.has(process);
    this.#others.set(process, { viewers, heardAt: Date.now() });
    // nor has it heard of us
    if (isNew) this.#tell();
  }

  #tell(): void {
    if (isEnding(this.#connection)) return;
    const word: Word = { process: this.#process, viewers: this.#here };
    this.#connection.publish(subject, JSON.stringify(word));
  }
}

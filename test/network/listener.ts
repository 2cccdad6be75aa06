import type { Test } from 'tap';
import type { IrcMessage } from '../../projections/network/queries.js';
import { eventually } from '../support/eventually.js';

/** Clients of the live stream, as a browser's are: they keep the id of the last event. */
export class Listener {
  readonly messages: IrcMessage[] = [];
  readonly #abort = new AbortController();
  raw = '';
  lastId = '';
  ended = false;

  constructor(
    t: Test,
    readonly response: Response,
  ) {
    t.teardown(() => this.stop());
    void this.#read();
  }

  static async open(t: Test, url: string, headers: Record<string, string> = {}): Promise<Listener> {
    const response = await fetch(url, { headers });
    t.equal(response.status, 200);
    t.match(response.headers.get('content-type'), 'text/event-stream');
    return new Listener(t, response);
  }

  texts(): string[] {
    return this.messages.map(({ text }) => text);
  }

  /** Waits until so many lines have come. */
  async until(count: number): Promise<void> {
    await eventually(`${count} lines`, async () => this.messages.length >= count);
  }

  stop(): void {
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    const reader = this.response.body!.getReader();
    this.#abort.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}));
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done) break;
      const piece = decoder.decode(value, { stream: true });
      this.raw += piece;
      text += piece;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const fields = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        const data = fields.find((field) => field.startsWith('data: '));
        if (!data) continue;
        this.messages.push(JSON.parse(data.slice(6)));
        this.lastId = fields.find((field) => field.startsWith('id: '))!.slice(4);
      }
    }
    this.ended = true;
  }
}

import type { Random } from '../random.js';
import type { World } from '../world.js';

/** What a host was asked, as it came in whole. */
export interface Asked {
  /** Who asks, where the address says it: see `addressFor`. */
  process: string;
  url: URL;
  method: string;
  headers: Headers;
  body: string;
}

/** What a host does with a request; it may take its time. */
export type Answer = (asked: Asked) => Response | Promise<Response>;

/** What can go wrong with a request to a host. */
export const httpFaults = [
  'refused', // nothing was asked
  'hangs', // nothing was asked, and nothing comes back
  'too many requests',
  'broken',
  'unavailable',
  'answer lost', // it was done
  'answer hangs', // it was done
  'cut body',
  'slow body',
  'no JSON',
] as const;

/** The kind of a fault. */
export type HttpFault = (typeof httpFaults)[number];

const statuses: Partial<Record<HttpFault, number>> = {
  'too many requests': 429,
  broken: 500,
  unavailable: 503,
};

/** A host outside: its answer, and the faults that are on. */
export class Host {
  /** Chance that a request meets a fault. */
  failing = 0;
  /** Faults that requests meet by chance. */
  kinds: readonly HttpFault[] = httpFaults;
  /** Longest way to the host, and back, in milliseconds. */
  latencyMs = 100;
  readonly #next: HttpFault[] = [];
  readonly #world: World;
  readonly #random: Random;
  readonly #answer: Answer;
  #downUntil = 0;

  constructor(world: World, answer: Answer) {
    this.#world = world;
    this.#random = world.random.fork();
    this.#answer = answer;
  }

  /** Nobody listens there for so long. */
  outage(ms: number): void {
    this.#downUntil = Math.max(this.#downUntil, this.#world.elapsed + ms);
  }

  /** The next request meets this fault. */
  failNext(fault: HttpFault): void {
    this.#next.push(fault);
  }

  /** All is well from now on. */
  heal(): void {
    this.#downUntil = 0;
    this.#next.length = 0;
    this.failing = 0;
  }

  /** Answers one request, with what goes wrong on its way. */
  async ask(request: Request, process: string, pass: (ms: number) => Promise<void>): Promise<Response> {
    const random = this.#random;
    const fault = this.#next.shift() ?? (random.chance(this.failing) ? random.pick(this.kinds) : undefined);
    const asked = {
      process,
      url: new URL(request.url),
      method: request.method,
      headers: request.headers,
      body: await request.text(),
    };
    if (fault) this.#world.tell(asked.url.hostname, `${asked.method} ${asked.url.pathname}: ${fault}`);
    await pass(random.int(1, this.latencyMs));
    if (this.#world.elapsed < this.#downUntil || fault === 'refused') throw failed('ECONNREFUSED');
    if (fault === 'hangs') await pass(Number.POSITIVE_INFINITY);
    const status = fault && statuses[fault];
    if (status) {
      const headers = random.chance(0.5) ? { 'retry-after': String(random.int(1, 20)) } : {};
      return new Response('not now', { status, headers });
    }
    const response = await this.#answer(asked);
    await pass(random.int(1, this.latencyMs));
    if (fault === 'answer lost') throw failed('ECONNRESET');
    if (fault === 'answer hangs') await pass(Number.POSITIVE_INFINITY);
    if (fault === 'no JSON') return new Response('<html>', { status: response.status });
    if (fault === 'cut body' || fault === 'slow body')
      return await inParts(response, fault === 'cut body', () => pass(random.int(100, 8_000)));
    return response;
  }
}

/** The network as `fetch` sees it: hosts by their names, and no others. */
export class Outside {
  readonly #world: World;
  readonly #hosts = new Map<string, Host>();
  readonly #dead = new Set<string>();

  constructor(world: World) {
    this.#world = world;
    world.fetch = (input, init) => this.#fetch(input, init);
  }

  /** Adds a host. */
  host(name: string, answer: Answer): Host {
    const host = new Host(this.#world, answer);
    this.#hosts.set(name, host);
    return host;
  }

  /** The address of a host as one process has it: all share one `fetch`, so that only the address can say who asks. */
  addressFor(process: string, host: string): string {
    return `http://${labelOf(process)}.${host}`;
  }

  /** A process is gone: nothing that it asks leaves it from now on, and no answer arrives there. */
  bury(process: string): void {
    this.#dead.add(labelOf(process));
  }

  async #fetch(...[input, init = {}]: Parameters<typeof fetch>): Promise<Response> {
    // the caller's own one: that of a request follows it only until memory is cleaned, which no seed decides
    const { signal = null, ...rest } = init;
    signal?.throwIfAborted();
    const request = new Request(input, rest);
    const { hostname } = new URL(request.url);
    const [process = '', name = ''] = /^([^.]+)\.(.+)$/.exec(hostname)?.slice(1) ?? [];
    const host = this.#hosts.get(hostname) ?? this.#hosts.get(name);
    if (!host) throw failed('ENOTFOUND');
    const pass = (ms: number) => this.#pass(ms, signal);
    if (this.#dead.has(process)) await pass(Number.POSITIVE_INFINITY);
    const response = await host.ask(request, process, pass);
    if (this.#dead.has(process)) await pass(Number.POSITIVE_INFINITY);
    return response;
  }

  /** Lets time pass; rejects when the caller gives up. */
  #pass(ms: number, signal: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const planned = Number.isFinite(ms) ? this.#world.after(ms, () => end(resolve)) : undefined;
      const abort = () => end(() => reject(signal?.reason));
      const end = (settle: () => void) => {
        signal?.removeEventListener('abort', abort);
        if (planned) planned.cancelled = true;
        settle();
      };
      signal?.addEventListener('abort', abort);
    });
  }
}

/** The body in two parts with a pause between them; a connection that is cut brings only the first. */
async function inParts(response: Response, isCut: boolean, pause: () => Promise<void>): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const middle = bytes.length >> 1;
  let isBegun = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (!isBegun) {
          isBegun = true;
          return controller.enqueue(bytes.slice(0, middle || 1));
        }
        await pause();
        if (isCut) throw failed('UND_ERR_SOCKET', 'terminated');
        controller.enqueue(bytes.slice(middle || 1));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

/** A process in the name of a host. */
function labelOf(process: string): string {
  return process.replaceAll(' ', '-');
}

/** What the real `fetch` throws when there is no answer. */
function failed(code: string, message = 'fetch failed'): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(code), { code }) });
}

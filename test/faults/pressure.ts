import { connect, type Socket } from 'node:net';
import { eventually } from '../support/eventually.js';
import type { Fault } from './fault.js';
import { queueOf, type Stage } from './stage.js';

const memoryBoundMb = 700;

/** The network comes back after so much has piled up. */
export const backlog: Fault = {
  name: 'backlog',
  what: 'InspIRCd out of reach until 100,000 events wait',
  long: { times: 1, events: 100_000 },
  short: { times: 1, events: 1_500 },
  run: async (stage, { events }) => {
    const { load, url, irc, memory, notes } = stage;
    irc.refuse(true);
    irc.cut();
    await load.post(events, { parallel: 50 });
    irc.refuse(false);
    stage.progress('delivering');
    const openedAt = performance.now();
    await eventually('the backlog to be delivered', async () => (await queueOf(url)).pending === 0, 600_000);
    const seconds = (performance.now() - openedAt) / 1_000;
    notes.linesPerSecond = Math.round((events * 2) / seconds);
    stage.expect(memory.max() < memoryBoundMb, `memory went up to ${Math.round(memory.max())} MB`);
  },
};

/** Clients that send a byte now and then hold their connections open, while good ones want to be served. */
export const slowClients: Fault = {
  name: 'slow-clients',
  what: '500 clients that never finish a request',
  long: { times: 500, events: 5_000 },
  short: { times: 500, events: 400 },
  run: async (stage, { times, events }) => {
    const { load, notes } = stage;
    await load.post(Math.floor(events / 2));
    const idle = percentile(99, load);
    load.answers.length = 0;
    const slow = new SlowClients(stage, times);
    try {
      await slow.connected();
      await load.post(Math.ceil(events / 2));
    } finally {
      slow.stop();
    }
    notes.p99IdleMs = Math.round(idle);
    notes.p99Ms = Math.round(percentile(99, load));
    stage.expect(
      load.answers.every(({ status }) => status === 202),
      'a good request was not served',
    );
    stage.expectSoon(percentile(100, load), 5_000, 'a good request waited for slow ones');
  },
};

/** So many connections that are always there, each with half a request. */
class SlowClients {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #dripping: NodeJS.Timeout;
  #stopped = false;

  constructor(stage: Stage, count: number) {
    this.#port = Number(new URL(stage.url).port);
    for (let n = 0; n < count; n++) this.#open();
    this.#dripping = setInterval(() => {
      for (const socket of this.#sockets) socket.write('x');
    }, 1_000);
  }

  /** Resolves when all are connected. */
  async connected(): Promise<void> {
    await eventually('the slow clients to be connected', () =>
      [...this.#sockets].every((socket) => socket.readyState === 'open'),
    );
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#dripping);
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(): void {
    const socket = connect({ host: '127.0.0.1', port: this.#port });
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('connect', () =>
      socket.write(
        'POST /hooks/em/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4096\r\nX-Slow: ',
      ),
    );
    // cut off by the server: another one takes its place
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (!this.#stopped) this.#open();
    });
  }
}

function percentile(percent: number, { answers }: Stage['load']): number {
  const sorted = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

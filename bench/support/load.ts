import { readFileSync } from 'node:fs';
import pLimit from 'p-limit';
import { median, milliseconds, percentile, whole } from './figures.js';
import { RawConnection, rawRequest } from './raw-http.js';

/** Sends one signed event and resolves with the milliseconds until its answer; throws unless it is a 202. */
export type Post = (event: { body: string; headers: Record<string, string> }) => Promise<number>;

const mostConnections = 64;
const answerBoundMs = 10_000;

/** A poster on kept-alive connections that costs little compared with what it measures. */
export function poster(url: string): { post: Post; close: () => void } {
  const target = `${url}/hooks/em/events`;
  const limit = pLimit(mostConnections);
  const idle: RawConnection[] = [];
  let isClosed = false;
  const send = (request: Buffer) =>
    new Promise<void>((resolve, reject) => {
      const connection = openOne(idle) ?? new RawConnection(url);
      const failed = (error: Error) => {
        connection.close();
        reject(error);
      };
      const late = setTimeout(() => failed(new Error(`${target} does not answer`)), answerBoundMs);
      connection.send(request, (status, error) => {
        clearTimeout(late);
        if (status === 202 && !isClosed) idle.push(connection);
        else connection.close();
        if (status === 202) resolve();
        else failed(error ?? new Error(`${target} answered ${status}`));
      });
    });
  const post: Post = async ({ body, headers }) => {
    const sentAt = performance.now();
    await limit(() => send(rawRequest(target, { method: 'POST', headers, body })));
    return performance.now() - sentAt;
  };
  const close = () => {
    isClosed = true;
    for (const connection of idle) connection.close();
  };
  return { post, close };
}

/** Takes a connection that the server has not closed meanwhile, if there is one. */
function openOne(idle: RawConnection[]): RawConnection | undefined {
  for (let one = idle.pop(); one; one = idle.pop()) if (one.isOpen) return one;
  return undefined;
}

/**
 * Calls `send` at a steady rate, however long the answers take, `count` times or until `until` aborts.
 * Resolves with all its results, when all calls have ended.
 */
export async function atRate(
  perSecond: number,
  count: number,
  send: (n: number) => Promise<number>,
  until?: AbortSignal,
): Promise<number[]> {
  const sent: Promise<number>[] = [];
  const startedAt = performance.now();
  while (sent.length < count && !until?.aborted) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond));
    while (sent.length < due) {
      const sending = send(sent.length);
      sending.catch(() => {}); // noticed when all are waited for
      sent.push(sending);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return await Promise.all(sent);
}

/** What a load showed. */
export interface LoadFigures {
  perSecond: number;
  /** Milliseconds from a request to its answer. */
  p50: number;
  p99: number;
  /** Microseconds of CPU for each answer, by process; `load` is this one, which makes the load. */
  cpu: Record<string, number>;
}

/**
 * Sends prepared requests, one after the other on each connection, until the time is over or there are no
 * more. `processes` names the processes whose CPU is reported. Throws if an answer is not a 2xx.
 */
export async function underLoad(load: {
  url: string;
  /** The next request; `undefined` ends the load. */
  next: () => Buffer | undefined;
  connections: number;
  seconds: number;
  processes?: Record<string, number>;
}): Promise<LoadFigures> {
  const { url, next, seconds, processes = {} } = load;
  const connections = Array.from({ length: load.connections }, () => new RawConnection(url));
  const cpus = () => ({
    load: cpuOf(process.pid),
    ...Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuOf(pid)])),
  });
  const took: number[] = [];
  const before: Record<string, number> = cpus();
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const run = (connection: RawConnection) =>
    new Promise<void>((resolve, reject) => {
      const send = () => {
        const sentAt = performance.now();
        const request = sentAt < endsAt ? next() : undefined;
        if (!request) return resolve();
        connection.send(request, (status, error) => {
          if (status < 200 || status > 299) return reject(error ?? new Error(`${url} answered ${status}`));
          took.push(performance.now() - sentAt);
          send();
        });
      };
      send();
    });
  try {
    await Promise.all(connections.map(run));
  } finally {
    for (const connection of connections) connection.close();
  }
  const ms = performance.now() - startedAt;
  const after: Record<string, number> = cpus();
  const cpu = Object.entries(after).map(([name, used]) => [name, (used - before[name]!) / took.length]);
  return {
    perSecond: (took.length / ms) * 1_000,
    p50: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    cpu: Object.fromEntries(cpu),
  };
}

/** The medians of several rounds. */
export function medians(rounds: readonly LoadFigures[]): LoadFigures {
  const of = (figure: (round: LoadFigures) => number) => median(rounds.map(figure));
  const names = Object.keys(rounds[0]?.cpu ?? {});
  return {
    perSecond: of((one) => one.perSecond),
    p50: of((one) => one.p50),
    p99: of((one) => one.p99),
    cpu: Object.fromEntries(names.map((name) => [name, of((one) => one.cpu[name]!)])),
  };
}

/** Figures as the table shows them: rate, latencies, and the CPU of each process for one answer. */
export function loadText({ perSecond, p50, p99, cpu }: LoadFigures): string {
  const costs = Object.entries(cpu).map(([name, micros]) => `${name} ${whole(micros)}`);
  return `${whole(perSecond)}/s, p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}, µs of CPU: ${costs.join(', ')}`;
}

/**
 * Microseconds of CPU that a process has used so far. For another process, in the kernel's ticks of a
 * hundredth of a second.
 */
function cpuOf(pid: number): number {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

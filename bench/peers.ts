import { setTimeout as sleep } from 'node:timers/promises';
import { channelOf, ours, peerRelays, type Relay, type Send } from './peer-relays.js';
import type { Bench, Row } from './support/bench.js';
import { median, milliseconds, perSecond } from './support/figures.js';
import { type BareClient, bareClient } from './support/irc-client.js';
import { type Ircd, startIrcd } from './support/servers.js';

const tasks = ['peer-a', 'peer-b', 'peer-c', 'peer-d'];
const lineBoundMs = 120_000;
const firstBoundMs = 15_000;

/** From a request to a line in a channel: ours and two relays that Debian has, on the same IRC server. */
export async function peers(t: Bench): Promise<Row[]> {
  const ircd = await startIrcd(t);
  const lines = t.size(20, 4);
  const single = t.size(10, 2);
  const own = await measure(t, ours, ircd, lines, single);
  const rows: Row[] = [];
  for (const relay of peerRelays) {
    const burst = `${lines} lines over ${tasks.length} channels, handed over at once, until the last is shown`;
    const alone = 'one line at a time, until it is shown, p50';
    try {
      const theirs = await measure(t, relay, ircd, lines, single);
      rows.push(
        {
          measured: burst,
          ours: perSecond(lines, own.burstMs, 'lines'),
          against: `${relay.name} (${relay.lacks}): ${perSecond(lines, theirs.burstMs, 'lines')}`,
          ratio: theirs.burstMs / own.burstMs,
        },
        {
          measured: alone,
          ours: milliseconds(own.aloneMs),
          against: `${relay.name}: ${milliseconds(theirs.aloneMs)}`,
          ratio: own.aloneMs / theirs.aloneMs,
        },
      );
    } catch (error) {
      rows.push({
        measured: burst,
        ours: '–',
        against: `${relay.name}: skipped, ${(error as Error).message}`,
      });
    }
  }
  return rows;
}

async function measure(
  t: Bench,
  relay: Relay,
  ircd: Ircd,
  lines: number,
  single: number,
): Promise<{ burstMs: number; aloneMs: number }> {
  t.progress(`${relay.name}: starting`);
  const nick = `w-${relay.name.slice(0, 5)}`;
  const reader = await bareClient({ port: ircd.port, nick, channels: tasks.map(channelOf) });
  t.teardown(reader.quit);
  const send = await relay.start(t, ircd, tasks);
  for (const task of tasks) await showFirst(reader, send, task);
  t.progress(`${relay.name}: ${lines} lines at once`);
  const burstMs = await show(reader, send, tasks, 'burst', lines);
  t.progress(`${relay.name}: ${single} lines one at a time`);
  const alone: number[] = [];
  for (let n = 0; n < single; n++) {
    await sleep(relay.restMs * (n === 0 ? 5 : 1));
    alone.push(await show(reader, send, tasks, `alone${n}`, 1));
  }
  return { burstMs, aloneMs: median(alone) };
}

/** Sends until a line is shown: a relay that is not yet connected or in the channel may lose what it is given. */
async function showFirst(reader: BareClient, send: Send, task: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await show(reader, send, [task], `${task}${attempt}`, 1, firstBoundMs);
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

/** Hands lines over, round the tasks, and resolves with the milliseconds until all are shown. */
async function show(
  reader: BareClient,
  send: Send,
  to: readonly string[],
  run: string,
  count: number,
  boundMs = lineBoundMs,
): Promise<number> {
  const startedAt = performance.now();
  const shown = linesShown(reader, run, count, boundMs);
  shown.catch(() => {}); // waited for when all are sent
  await Promise.all(Array.from({ length: count }, (_, n) => send(to[n % to.length]!, `${run}-${n}`)));
  await shown;
  return performance.now() - startedAt;
}

/** Resolves when so many lines of a run have been seen in the channels. */
function linesShown(reader: BareClient, run: string, count: number, boundMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    const late = setTimeout(
      () => reject(new Error(`${seen} of ${count} lines were shown in ${boundMs} ms`)),
      boundMs,
    );
    reader.onLines((lines) => {
      for (const line of lines) {
        if (!line.includes(`${run}-`) || !/ (PRIVMSG|NOTICE) #/.test(line) || ++seen < count) continue;
        clearTimeout(late);
        resolve();
      }
    });
  });
}

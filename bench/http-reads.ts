import type { Log } from '../streams/core/index.js';
import { irc, ircSubject } from '../streams/network/index.js';
import { feedbackSubject } from '../streams/reputation/facts.js';
import { reputation } from '../streams/reputation/index.js';
import type { Bench, Row } from './support/bench.js';
import { median, whole } from './support/figures.js';
import { type LoadFigures, loadText, medians, underLoad } from './support/load.js';
import { openLog } from './support/log.js';
import { rawRequest } from './support/raw-http.js';
import { startNats } from './support/servers.js';
import { startFloor, startService } from './support/service.js';
import { eventually } from './support/wait.js';

const connections = 64;
const paths = [
  '/irc/stats',
  '/irc/channels',
  '/irc/channels/bench-1/messages',
  '/leaderboard/agents?limit=50',
  '/reputation/agent7',
];

/** Public reads over HTTP against bare routes that answer the same bytes, in turns. */
export async function httpReads(t: Bench): Promise<Row[]> {
  const nats = await startNats(t);
  await fill(await openLog(t, nats));
  const ours = await startService(t, { nats }, { ROLES: 'api,projections', LOG_LEVEL: 'warn' });
  await eventually('everything to be folded', async () => {
    const { messages } = (await (await fetch(`${ours.url}/irc/stats`)).json()) as { messages: number };
    return messages === 10_000;
  });
  const bodies = await Promise.all(paths.map(async (path) => await (await fetch(ours.url + path)).text()));
  const floor = await startFloor(t, 'bytes', { bodies });
  const rows: Row[] = [];
  for (const [n, path] of paths.entries()) {
    const rounds: { ours: LoadFigures; floor: LoadFigures }[] = [];
    for (let round = 0; round <= t.size(3, 1); round++) {
      t.progress(`${path}, ${round === 0 ? 'warming up' : `round ${round}`}`);
      const figures = {
        ours: await read(ours.url + path, ours.pid, t.size(3, 1)),
        floor: await read(`${floor.url}/${n}`, floor.pid, t.size(3, 1)),
      };
      if (round > 0) rounds.push(figures);
    }
    rows.push({
      measured: `\`GET ${path}\`, ${whole(Buffer.byteLength(bodies[n]!))} bytes, ${connections} connections`,
      ours: loadText(medians(rounds.map((figures) => figures.ours))),
      against: `a bare route that answers the same bytes: ${loadText(medians(rounds.map((figures) => figures.floor)))}`,
      ratio: median(rounds.map((figures) => figures.ours.perSecond / figures.floor.perSecond)),
      goal: '≥ 0.68',
    });
  }
  return rows;
}

async function read(url: string, pid: number, seconds: number): Promise<LoadFigures> {
  const bytes = rawRequest(url);
  return await underLoad({ url, next: () => bytes, connections, seconds, processes: { process: pid } });
}

/** 10,000 lines in fifty channels, and what a thousand agents were rated. */
async function fill(log: Log): Promise<void> {
  const start = Date.now() - 60_000;
  const by = { by: 'bench' };
  for (let n = 0; n < 50; n++) {
    const channel = `#bench-${n}`;
    const seen = Array.from({ length: 200 }, (_, line) => ({
      is: 'message' as const,
      at: start + line,
      nick: `agent${line % 7}`,
      text: `line ${line} of an agent that has something to say about ${channel}`,
    }));
    const members = Array.from({ length: 7 }, (_, agent) => `agent${agent}`);
    const snapshot = { is: 'snapshot' as const, at: start, members, modes: 'nt', topic: `All about ${n}` };
    const data = { channel, lines_before: 0, seen: [snapshot, ...seen] };
    await log.append(irc, ircSubject(channel), { type: 'channel.observed', data }, by);
  }
  const day = new Date(start).toISOString().slice(0, 10);
  for (let n = 0; n < 1_000; n++) {
    const rating = { from: `rater${n % 13}`, nick: `agent${n}`, channel: `#bench-${n % 50}` };
    const data = { ...rating, rating: 1 + (n % 5), comment: '', day };
    await log.append(reputation, feedbackSubject(rating), { type: 'feedback.given', data }, by);
  }
}

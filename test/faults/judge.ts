import { eventually } from '../support/eventually.js';
import { idOf } from './load.js';
import { queueOf, type Stage } from './stage.js';
import { storedEvents } from './stored.js';

/** What became of the events of a run. Each list names violations, as `channel id`. */
export interface Verdict {
  events: number;
  /** Lines that had to be shown. */
  lines: number;
  /** Accepted and neither shown nor listed as dead or expired. */
  lost: string[];
  twice: string[];
  outOfOrder: string[];
  /** Accepted, and not on the log. */
  falselyAccepted: string[];
  storedTwice: string[];
  dead: number;
  expired: number;
  /** The broken rules, in words; empty if the run has passed. */
  violations: string[];
}

const settleBoundMs = 180_000;
/** A line that has not come after this time is lost; a machine that is held up does not lose it. */
const idleBoundMs = 30_000;
/** Rows looked up one by one; of more events, this many are picked at random. */
const maxRows = 5_000;

/** Waits until everything has come to its end, and checks all of it from outside: log, channels and API. */
export async function judge(stage: Stage): Promise<Verdict> {
  const { load, url } = stage;
  const { events } = load;
  stage.progress('judging');
  const stored = await storedEvents(stage.nats.url);
  const newest = newestOf(stored);
  // the read model counts what it has seen: it may have counted the newest ones last
  const isEnded = async () =>
    (newest === undefined || (await rowOf(url, newest)) !== undefined) && (await queueOf(url)).pending === 0;
  await eventually('every event to come to its end', isEnded, settleBoundMs);
  const ended = await listed(url);
  const wanted = new Map(load.channels.map((channel) => [channel, [] as string[]]));
  for (const { id, channels } of events.values()) {
    if (ended.has(`evt-${id}`)) continue;
    for (const channel of channels) wanted.get(channel)!.push(id);
  }
  const lines = [...wanted.values()].reduce((sum, ids) => sum + ids.length, 0);
  await quiet(stage, lines);

  const verdict: Verdict = {
    events: events.size,
    lines,
    lost: [],
    twice: [],
    outOfOrder: [],
    falselyAccepted: [...events.keys()].filter((id) => !stored.has(id)),
    storedTwice: [...stored].filter(([, places]) => places.length > 1).map(([id]) => id),
    dead: [...ended.values()].filter((status) => status === 'dead_letter').length,
    expired: [...ended.values()].filter((status) => status === 'expired').length,
    violations: [...stage.broken],
  };
  const most = { lost: 0, twice: 0 };
  const unexcused: string[] = [];
  for (const [channel, ids] of wanted) {
    const seen = timesSeen(stage, channel);
    const lost = ids.filter((id) => !seen.has(id));
    const twice = [...seen].filter(([, times]) => times > 1).map(([id]) => id);
    unexcused.push(...twice.filter((id) => !isExcused(stage, channel, id)).map((id) => `${channel} ${id}`));
    most.lost = Math.max(most.lost, lost.length);
    most.twice = Math.max(most.twice, twice.length);
    verdict.lost.push(...lost.map((id) => `${channel} ${id}`));
    verdict.twice.push(...twice.map((id) => `${channel} ${id}`));
    verdict.outOfOrder.push(...outOfOrder(stage, channel, stored));
  }
  verdict.outOfOrder.push(...notAsPosted(stage, stored));

  const { violations } = verdict;
  const none = (what: string, found: string[]) => {
    if (found.length > 0) violations.push(`${found.length} ${what}: ${found.slice(0, 5).join(', ')}`);
  };
  if (most.lost > stage.inDoubt.unseen) none('lines lost', verdict.lost);
  if (most.twice > stage.inDoubt.twice) none('lines shown twice', verdict.twice);
  none('lines shown twice without a crash of the IRC server in between', unexcused);
  none('lines out of order', verdict.outOfOrder);
  none('events accepted and not on the log', verdict.falselyAccepted);
  none('events stored twice', verdict.storedTwice);
  none('rows of the API that say something else', await wrongRows(stage, ended));
  return verdict;
}

/** Waits until the witness has every line, or until nothing has come for a while. */
async function quiet({ witness }: Stage, lines: number): Promise<void> {
  for (let last = -1; witness.lines.length < lines && last < witness.lines.length; ) {
    last = witness.lines.length;
    const more = () => witness.lines.length > last;
    await witness.waitUntil(more, 'another line', idleBoundMs).catch(() => undefined);
  }
  await witness.ask(); // a line too many is here then
}

/** How often each id was seen in a channel; what only its history told counts as well, once. */
function timesSeen({ witness }: Stage, channel: string): Map<string, number> {
  const times = new Map<string, number>();
  for (const text of witness.texts(channel)) {
    const id = idOf(text);
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  }
  for (const line of witness.replayed) {
    const id = line.channel === channel ? idOf(line.text) : undefined;
    if (id !== undefined && !times.has(id)) times.set(id, 1);
  }
  return times;
}

/** Whether the IRC server died between one showing of a line and the next. */
function isExcused({ witness, ircCrashes }: Stage, channel: string, id: string): boolean {
  const shownAt = witness.lines
    .filter((line) => line.channel === channel && idOf(line.text) === id)
    .map(({ at }) => at.getTime());
  return shownAt
    .slice(1)
    .every((again, index) => ircCrashes.some((crash) => shownAt[index]! <= crash + 50 && crash <= again));
}

/** Lines that came for the first time after a line of an event that follows them on the log. */
function outOfOrder({ witness }: Stage, channel: string, stored: Map<string, number[]>): string[] {
  const late: string[] = [];
  const before = new Set<string>();
  let last = 0;
  for (const text of witness.texts(channel)) {
    const id = idOf(text);
    if (id === undefined || before.has(id)) continue;
    before.add(id);
    const seq = stored.get(id)?.[0] ?? 0;
    if (seq < last) late.push(`${channel} ${id}`);
    last = Math.max(last, seq);
  }
  return late;
}

/** Events of one producer's channel that are on the log in another order than they were posted in. */
function notAsPosted({ load }: Stage, stored: Map<string, number[]>): string[] {
  const last = new Map<string, number>();
  const wrong: string[] = [];
  for (const { id, channels } of load.events.values()) {
    const own = channels.at(-1)!;
    const seq = stored.get(id)?.[0];
    if (seq === undefined) continue;
    if (seq < (last.get(own) ?? 0)) wrong.push(`log ${id}`);
    last.set(own, seq);
  }
  return wrong;
}

/** The events that the API lists as dead or expired, with which of the two. */
async function listed(url: string): Promise<Map<string, string>> {
  const ended = new Map<string, string>();
  for (const status of ['dead_letter', 'expired']) {
    for (let before: number | undefined; ; ) {
      const page = `${url}/ops/dead-letters?status=${status}&limit=500${before ? `&before=${before}` : ''}`;
      const answer = (await (await fetch(page)).json()) as {
        dead_letters: { id: number; event_id: string }[];
      };
      for (const { id, event_id } of answer.dead_letters) {
        ended.set(event_id, status);
        before = id;
      }
      if (answer.dead_letters.length < 500) break;
    }
  }
  return ended;
}

/** The event that is the last one on the log. */
function newestOf(stored: Map<string, number[]>): string | undefined {
  let newest: string | undefined;
  let last = 0;
  for (const [id, [seq = 0]] of stored) {
    if (seq > last) [newest, last] = [id, seq];
  }
  return newest;
}

/** What the API says has become of an event; `undefined` while its read model has not seen it. */
async function rowOf(url: string, id: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/ops/dead-letters/evt-${id}`);
  return ((await answer.json()) as { status?: string }).status;
}

/** Events whose row does not say what became of them. */
async function wrongRows({ load, url, random }: Stage, ended: Map<string, string>): Promise<string[]> {
  const all = [...load.events.keys()];
  const some = all.length <= maxRows ? all : all.filter(() => random() < maxRows / all.length);
  const wrong: string[] = [];
  const look = async () => {
    for (let id = some.pop(); id !== undefined; id = some.pop()) {
      const status = await rowOf(url, id);
      const expected = ended.get(`evt-${id}`) ?? 'delivered';
      if (status !== expected) wrong.push(`${id} ${status} instead of ${expected}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, look));
  return wrong;
}

import { z } from 'zod';
import type { IrcMessage as Line } from '../../../projections/network/queries.js';
import { isExpected } from '../../../streams/core/index.js';
import { casefold, channelKey, withoutHash } from '../../../streams/irc-grammar.js';
import {
  ircSubject,
  isLine,
  type LineSighting,
  lineId,
  parseLineId,
} from '../../../streams/network/index.js';
import { type Call, seesPrivate } from '../core/call.js';
import type { Caller } from '../core/caller.js';
import { defineEventStream, moreEvent, type ServerEvent, type Viewer } from '../core/event-stream.js';
import { exampleOf } from '../core/example.js';
import { type LiveFeed, mostMissed, type Portion } from '../core/live-feed.js';
import { findLine } from './answered.js';
import type { LiveSighting } from './feed.js';
import { getMembership } from './members.js';
import { IrcMessage, listIrcMessages } from './reads.js';
import type { Viewers } from './viewers.js';
import { readable, readableNow, type WithholdingParts } from './withheld.js';

/** What the stream of lines works with. */
export interface IrcStreamParts extends WithholdingParts {
  call: Call;
  ircStream: { feed: LiveFeed<LiveSighting>; viewers: Pick<Viewers, 'change'> };
}

/** The lines of a channel as they are said. */
export const streamIrc = defineEventStream({
  id: 'streamIrc',
  path: '/irc/stream',
  tag: 'IRC',
  summary: 'The lines of a channel as they are said',
  description: `Server-sent events; each \`data\` is one line as JSON. With Last-Event-ID, or \`after\`, the stream goes on after that line. On one connection come the first ${mostMissed} things that were missed, joins and others included. If there are more, an event \`more\` says \`{says, after, rest}\`: where it came to, and where the rest is read. Then the stream ends; with the id of that event it goes on. A comment every 15 seconds keeps it open. It ends with your key.`,
  input: z.object({
    channel: z.string().min(1).describe('Channel without its #'),
    after: z.string().optional().describe('Id of the last line that is known'),
  }),
  says: 'Lines without an end',
  example: `id: 42-0\ndata: ${JSON.stringify(exampleOf(IrcMessage))}\n\n`,
  refusals: { shown_channel_not_found: true },
  isEventId: (text) => parseLineId(text) !== undefined,
  most: 5_000,
  ofOneReader: 100,
  open: async ({ channel }, viewer, parts: IrcStreamParts) => {
    const watched = await watch([channel], viewer, parts);
    return linesOf(watched, viewer, parts, 'end');
  },
  viewers: (change, { ircStream }) => ircStream.viewers.change(change),
  close: ({ ircStream }) => ircStream.feed.close(),
});

/** The lines of several channels as they are said. One that becomes private goes on for those who are in it. */
export async function watchChannels(
  channels: readonly string[],
  viewer: Viewer,
  parts: IrcStreamParts,
): Promise<{ since: number; lines: AsyncGenerator<ServerEvent | undefined> }> {
  const watched = await watch(channels, viewer, parts);
  return { since: watched.since, lines: linesOf(watched, viewer, parts, 'go on') };
}

/** What is seen in channels, from now on or after the last line of the viewer. */
interface Watched {
  channels: readonly string[];
  since: number;
  portions: AsyncGenerator<Portion<LiveSighting>>;
  /** The first line that the viewer may read of each channel (casefolded). What was said in an earlier life is before it. */
  firsts: ReadonlyMap<string, string | undefined>;
}

/** Begins to see it. Throws `not_found` for a channel that is not there, or not for the viewer. */
async function watch(
  channels: readonly string[],
  { caller, after, reader, quietMs, signal, end }: Viewer,
  { call, ircStream }: IrcStreamParts,
): Promise<Watched> {
  const subjects = [...new Set(channels.map((channel) => ircSubject(channelKey(channel))))];
  const { since, items: portions } = await ircStream.feed.watch(subjects, {
    after: after === undefined ? undefined : parseLineId(after),
    reader,
    quietMs,
    signal,
    ended: end,
  });
  // a channel that becomes private later is seen to become so: who may not see it now is turned away
  const firsts = new Map<string, string | undefined>();
  for (const channel of channels) {
    const [first] = await call(listIrcMessages, { channel, limit: 1, after: '0-0', since }, caller);
    firsts.set(channelKey(channel), first?.id);
  }
  return { channels, since, portions, firsts };
}

/** The lines among what is seen, without those that are not for the viewer. */
async function* linesOf(
  { channels, portions, firsts }: Watched,
  { caller }: Viewer,
  parts: IrcStreamParts,
  whenPrivate: 'end' | 'go on',
): AsyncGenerator<ServerEvent | undefined> {
  for await (const { items, more } of portions) {
    if (items.length === 0 && !more) yield undefined;
    const missed: Line[] = [];
    for (const one of items) {
      if (!one.live && isBefore(one.id, firsts.get(casefold(one.channel)))) continue;
      if (one.isPrivate && !seesPrivate(caller) && !(await isForMember(one, caller, parts))) {
        if (one.live && whenPrivate === 'end') return;
        continue;
      }
      const line = await messageOf(one, parts);
      if (line && one.live) yield { id: one.id, data: await readableNow(line, one.readAt, caller, parts) };
      else if (line) missed.push(line);
    }
    for (const line of await readableOf(missed, caller, parts)) yield { id: line.id, data: line };
    if (more) yield rest(channels, lineId(more.seq, more.index));
  }
}

/** Whether something was seen before a line; without a line, all was. */
function isBefore(id: string, line: string | undefined): boolean {
  if (line === undefined) return true;
  const [a, b] = [parseLineId(id)!, parseLineId(line)!];
  return a.seq < b.seq || (a.seq === b.seq && a.index < b.index);
}

/** Lines of several channels as a caller may read them, in their order. Each channel is asked about once. */
async function readableOf(lines: Line[], caller: Caller, parts: IrcStreamParts): Promise<Line[]> {
  const shown = new Map<string, Line>();
  for (const name of new Set(lines.map(({ channel }) => channel))) {
    const of = lines.filter(({ channel }) => channel === name);
    for (const line of await readable(of, caller, parts)) shown.set(line.id, line);
  }
  return lines.map(({ id }) => shown.get(id)!);
}

/** Says that more was missed than comes on one connection, and where it is read. */
function rest(channels: readonly string[], after: string): ServerEvent {
  const says =
    'More was missed than comes on one connection: come back with after, or Last-Event-ID, or read the rest';
  const names = channels.map((channel) => encodeURIComponent(withoutHash(channel)));
  const read = names.map((name) => `/irc/channels/${name}/messages?after=${after}`);
  return { id: after, event: moreEvent, data: { says, after, rest: read } };
}

/** Whether something private is for a caller who is in the channel, as far as is known after it. */
async function isForMember(
  { id, channel }: LiveSighting,
  caller: Caller,
  { call }: IrcStreamParts,
): Promise<boolean> {
  if (caller.is !== 'agent') return false;
  const place = parseLineId(id)!;
  const { from } = await call(getMembership, { channel: casefold(channel), after: place.seq }, caller);
  const since = from === null ? undefined : parseLineId(from)!;
  return (
    since !== undefined && (place.seq > since.seq || (place.seq === since.seq && place.index >= since.index))
  );
}

async function messageOf(
  { id, channel, sighting }: LiveSighting,
  parts: IrcStreamParts,
): Promise<Line | undefined> {
  if (!isLine(sighting)) return undefined;
  const { nick, text, at, is } = sighting;
  const line = { id, channel, nick, text, time: new Date(at).toISOString(), action: is === 'action' };
  const answered = await answeredLine(sighting, channel, parts);
  return answered === undefined ? line : { ...line, reply_to: answered };
}

/** Which line a line answers. What is live is one object for all viewers, so it is asked about once. */
const answeredLines = new WeakMap<LineSighting, Promise<string | undefined>>();

/** As in the reads, the id of a line is told to whoever may read its answer. */
const anyLine: Caller = { is: 'key', actor: 'stream' };

/** The id of the line that a line answers; `undefined` without one, or while the record cannot be asked. */
async function answeredLine(
  sighting: LineSighting,
  channel: string,
  { call }: IrcStreamParts,
): Promise<string | undefined> {
  const { reply_to: line } = sighting;
  if (line === undefined) return undefined;
  const known = answeredLines.get(sighting);
  if (known) return await known;
  const asked = call(findLine, { channel, line }, anyLine).then(
    (found) => found.line?.id,
    (error: unknown) => {
      // a line without what it answers is better than a stream that ends
      if (isExpected(error)) return undefined;
      throw error;
    },
  );
  answeredLines.set(sighting, asked);
  return await asked;
}

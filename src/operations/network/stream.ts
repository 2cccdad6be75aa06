import { z } from 'zod';
import type { IrcMessage as Line } from '../../../projections/network/queries.js';
import { isExpected } from '../../../streams/core/index.js';
import { casefold, channelKey } from '../../../streams/irc-grammar.js';
import { ircSubject, isLine, type LineSighting, parseLineId } from '../../../streams/network/index.js';
import { type Call, seesPrivate } from '../core/call.js';
import type { Caller } from '../core/caller.js';
import { defineEventStream, type ServerEvent, type Viewer } from '../core/event-stream.js';
import { exampleOf } from '../core/example.js';
import type { LiveFeed } from '../core/live-feed.js';
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
  description:
    'Server-sent events; each `data` is one line as JSON. With Last-Event-ID, or `after`, the stream goes on after that line. A comment every 15 seconds keeps it open.',
  input: z.object({
    channel: z.string().min(1).describe('Channel without its #'),
    after: z.string().optional().describe('Id of the last line that is known'),
  }),
  says: 'Lines without an end',
  example: `id: 42-0\ndata: ${JSON.stringify(exampleOf(IrcMessage))}\n\n`,
  refusals: { not_found: 'No such channel, or not for this caller' },
  isEventId: (text) => parseLineId(text) !== undefined,
  most: 5_000,
  ofOneReader: 100,
  open: async ({ channel }, viewer, parts: IrcStreamParts) => {
    const { sightings } = await watch([channel], viewer, parts);
    return linesOf(sightings, viewer, parts, 'end');
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
  const { since, sightings } = await watch(channels, viewer, parts);
  return { since, lines: linesOf(sightings, viewer, parts, 'go on') };
}

/** What is seen in channels. Throws `not_found` for one that is not there, or not for the viewer. */
async function watch(
  channels: readonly string[],
  { caller, after, quietMs, signal, end }: Viewer,
  { call, ircStream }: IrcStreamParts,
) {
  const subjects = [...new Set(channels.map((channel) => ircSubject(channelKey(channel))))];
  const { since, items } = await ircStream.feed.watch(subjects, {
    after: after === undefined ? undefined : parseLineId(after),
    quietMs,
    signal,
    ended: end,
  });
  // a channel that becomes private later is seen to become so: who may not see it now is turned away
  for (const channel of channels) await call(listIrcMessages, { channel, limit: 1, since }, caller);
  return { since, sightings: items };
}

/** The lines among what is seen, without those that are not for the viewer. */
async function* linesOf(
  sightings: AsyncIterable<LiveSighting | undefined>,
  { caller }: Viewer,
  parts: IrcStreamParts,
  whenPrivate: 'end' | 'go on',
): AsyncGenerator<ServerEvent | undefined> {
  const readableLine = async (line: Line, live: boolean) =>
    live ? await readableNow(line, caller, parts) : (await readable([line], caller, parts))[0];
  for await (const one of sightings) {
    if (!one) yield undefined;
    else if (one.isPrivate && !seesPrivate(caller) && !(await isForMember(one, caller, parts))) {
      if (one.live && whenPrivate === 'end') return;
    } else {
      const line = await messageOf(one, parts);
      if (line) yield { id: one.id, data: await readableLine(line, one.live) };
    }
  }
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

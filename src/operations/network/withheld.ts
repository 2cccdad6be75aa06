import { z } from 'zod';
import { condemnedLines, knownIncidents } from '../../../projections/moderation/queries.js';
import { clock } from '../../../streams/core/clock.js';
import { boundedCache, isExpected, pause } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { scoreText, type Thresholds, withheldMark } from '../../../streams/moderation/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { type Call, holds, nobody } from '../core/call.js';
import type { Caller } from '../core/caller.js';
import { defineOperation } from '../core/operation.js';

/** What keeps attacks from those who read the record. */
export interface WithholdingParts {
  call: Call;
  withholding: {
    /** Whether lines are withheld at all. */
    isOn: boolean;
    thresholds: Thresholds;
    /** Casefolded names of the channels whose lines are not scored. */
    ignored: ReadonlySet<string>;
  };
}

/**
 * The lines of a channel that called for a kick or a ban, and which of some lines are incidents of any level.
 */
export const listCondemnedLines = defineOperation('listCondemnedLines', {
  input: z.object({
    channel: z.string(),
    asked: z.string().optional().describe('Ids with commas between them'),
  }),
  remote: { service: 'guardian', method: 'get', path: '/api/condemned/{channel}' },
  run: async ({ channel, asked }, _caller, { readModels }: { readModels: ReadModels }) => {
    const key = casefold(channel);
    // first, so that everything known about these lines is among the others
    const known = asked
      ? await readModels.recall('moderation', `incidents ${asked}`, (sql, schema) =>
          knownIncidents(sql, schema, asked.split(',')),
        )
      : [];
    const lines = await readModels.recall('moderation', `condemned ${key}`, (sql, schema) =>
      condemnedLines(sql, schema, key),
    );
    return { lines, known };
  },
});

/** A line as it is shown. */
interface Shown {
  id: string;
  channel: string;
  text: string;
  /** ISO 8601. */
  time: string;
}

/** A line that looks like an attack waits so long for its judgement, in milliseconds: until then its text is left out. */
const judgedWithinMs = 60_000;

/**
 * Lines of one channel as a caller may read them. The text of a line that called for a kick or a ban is left
 * out, except for operators. So is what looks like an attack, while it is not judged yet or moderation cannot be asked.
 */
export async function readable<Line extends Shown>(
  lines: readonly Line[],
  caller: Caller,
  parts: WithholdingParts,
): Promise<readonly Line[]> {
  const { isOn, ignored } = parts.withholding;
  const channel = lines[0]?.channel;
  if (!isOn || channel === undefined || holds(caller, 'operate')) return lines;
  const since = clock.now() - judgedWithinMs;
  const isNew = (line: Line) => Date.parse(line.time) > since && looksBad(line, parts);
  const asked = ignored.has(casefold(channel)) ? [] : lines.filter(isNew).map(({ id }) => id);
  const condemned = await condemnedIn(channel, parts, asked);
  if (condemned?.lines.size === 0 && asked.length === 0) return lines;
  const isOpen = new Set(asked.filter((id) => !condemned?.known.has(id)));
  const isWithheld = (line: Line) =>
    condemned ? condemned.lines.has(line.id) || isOpen.has(line.id) : looksBad(line, parts);
  // the same array if nothing is left out: answers that are given again are written once
  if (!lines.some(isWithheld)) return lines;
  return lines.map((line) => (isWithheld(line) ? { ...line, text: withheldMark } : line));
}

/** A reader of new lines waits so long for the judgement of one, from when this process read it, in milliseconds. */
const waitMs = 2_000;
const againMs = 50;

/**
 * A new line as a caller may read it. If it looks like an attack, it waits a moment for its judgement; without one it is
 * left out. What was read at the same time waits together, so that many such lines hold up nobody for long.
 */
export async function readableNow<Line extends Shown>(
  line: Line,
  readAt: number,
  caller: Caller,
  parts: WithholdingParts,
): Promise<Line> {
  const { isOn, ignored } = parts.withholding;
  if (!isOn || holds(caller, 'operate') || ignored.has(casefold(line.channel)) || !looksBad(line, parts))
    return line;
  for (;;) {
    const condemned = await condemnedIn(line.channel, parts, [line.id]);
    if (!condemned || condemned.lines.has(line.id)) break;
    if (condemned.known.has(line.id)) return line;
    if (clock.elapsed() - readAt >= waitMs) break;
    await pause(againMs);
  }
  return { ...line, text: withheldMark };
}

/** The lines of a channel whose text is withheld, and which of some lines are judged; `undefined` if that cannot be asked now. */
async function condemnedIn(channel: string, { call }: WithholdingParts, asked: readonly string[]) {
  try {
    const input = { channel, ...(asked.length === 0 ? {} : { asked: asked.join(',') }) };
    const { lines, known } = await call(listCondemnedLines, input, nobody);
    return { lines: new Set(lines), known: new Set(known) };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}

/** Scores of texts: what is new is read again and again, and by many. */
const scores = boundedCache<string, number>(5_000);

function looksBad({ text }: { text: string }, { withholding: { thresholds } }: WithholdingParts): boolean {
  const score = scores.get(text) ?? scoreText(text).score;
  scores.set(text, score);
  return score >= thresholds[1];
}

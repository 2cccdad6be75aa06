import { z } from 'zod';
import { condemnedLines, isIncident } from '../../../projections/moderation/queries.js';
import { isExpected, pause } from '../../../streams/core/index.js';
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
 * The lines of a channel that called for a kick or a ban, and whether one line is an incident of any level.
 */
export const listCondemnedLines = defineOperation('listCondemnedLines', {
  input: z.object({ channel: z.string(), line: z.string().optional() }),
  remote: { service: 'guardian', method: 'get', path: '/api/condemned/{channel}' },
  run: async ({ channel, line }, _caller, { readModels }: { readModels: ReadModels }) => {
    const key = casefold(channel);
    // first, so that everything known about the line is among the others
    const known =
      line !== undefined &&
      (await readModels.recall('moderation', `incident ${line}`, (sql, schema) =>
        isIncident(sql, schema, line),
      ));
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
}

/**
 * Lines of one channel as a caller may read them. The text of a line that called for a kick or a ban is left
 * out, except for operators. While moderation cannot be asked, what looks like an attack is left out.
 */
export async function readable<Line extends Shown>(
  lines: Line[],
  caller: Caller,
  parts: WithholdingParts,
): Promise<Line[]> {
  const { isOn } = parts.withholding;
  const channel = lines[0]?.channel;
  if (!isOn || channel === undefined || holds(caller, 'operate')) return lines;
  const condemned = await condemnedIn(channel, parts);
  if (condemned?.lines.size === 0) return lines;
  const isWithheld = (line: Line) => (condemned ? condemned.lines.has(line.id) : looksBad(line, parts));
  // the same array if nothing is left out: answers that are given again are written once
  if (!lines.some(isWithheld)) return lines;
  return lines.map((line) => (isWithheld(line) ? { ...line, text: withheldMark } : line));
}

/** How long a line that looks like an attack waits for its judgement before it is shown, in milliseconds. */
const judgedWithinMs = 2_000;
const againMs = 50;

/** A new line as a caller may read it. If it looks like an attack, it waits a moment for its judgement. */
export async function readableNow<Line extends Shown>(
  line: Line,
  caller: Caller,
  parts: WithholdingParts,
): Promise<Line> {
  const { isOn, ignored } = parts.withholding;
  if (!isOn || holds(caller, 'operate') || ignored.has(casefold(line.channel)) || !looksBad(line, parts))
    return line;
  for (let leftMs = judgedWithinMs; leftMs > 0; leftMs -= againMs) {
    const condemned = await condemnedIn(line.channel, parts, line.id);
    if (!condemned || condemned.lines.has(line.id)) return { ...line, text: withheldMark };
    if (condemned.known) return line;
    await pause(againMs);
  }
  return line;
}

/** The lines of a channel whose text is withheld; `undefined` if that cannot be asked now. */
async function condemnedIn(channel: string, { call }: WithholdingParts, line?: string) {
  try {
    const input = { channel, ...(line === undefined ? {} : { line }) };
    const { lines, known } = await call(listCondemnedLines, input, nobody);
    return { lines: new Set(lines), known };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}

const looksBad = ({ text }: Shown, { withholding: { thresholds } }: WithholdingParts): boolean =>
  scoreText(text).score >= thresholds[1];

import { AckPolicy, DeliverPolicy, nanos } from 'nats';
import {
  decodeFact,
  type Entry,
  type Log,
  type Recorded,
  type StreamDefinition,
} from '../../../streams/core/index.js';
import { defineCommand, flag, text, wholeNumber } from '../core/command.js';
import { Failed, isInterruption, UsageError } from '../core/failure.js';
import { cut, moment, printable, styled, type Terminal } from '../core/terminal.js';
import { streamNamed, withLog } from './open.js';
import { readRange } from './read-range.js';

/** `relay events <stream>` */
export const eventsCommand = defineCommand({
  name: 'events',
  arguments: ['<stream>'],
  summary: 'Print the facts of a stream, one line each',
  details:
    'Facts are decoded and brought to the newest version of their type. --follow goes on with new facts until\n' +
    'it is interrupted or --to is reached. A fact that cannot be decoded is printed with the reason.',
  options: {
    subject: text('SUBJECT', 'only facts of this subject; * and > match as in NATS'),
    from: wholeNumber('SEQ', 'begin with this sequence (default: the first one)'),
    to: wholeNumber('SEQ', 'end with this sequence (default: the last one now)'),
    follow: flag('wait for new facts'),
  },
  async run({ arguments: [name = ''], options, config, terminal, json, stop }) {
    const stream = streamNamed(name);
    const { subject, follow, from = 1, to = Number.POSITIVE_INFINITY } = options;
    if (to < from) throw new UsageError('--to is before --from');
    await withLog(config(), async (log) => {
      await checkFilter(log, stream, subject, from);
      const head = await log.head(stream);
      if (options.from !== undefined && from > head)
        terminal.err(`${stream.name} ends at ${head}: ${from} has not come yet`);
      const range = { after: from - 1, upTo: follow ? to : Math.min(to, head), subject, follow, stop };
      for await (const entries of readRange(log, stream, range))
        for (const entry of entries) {
          writeEntry(stream, entry, terminal, json);
          await terminal.room(stop);
          if (stop.aborted) return;
        }
    }).catch((error) => {
      if (!isInterruption(error)) throw error; // whoever stops it has seen enough
    });
  },
});

/** Following repairs itself for ever, also where the question is wrong; so the question is tried once first. */
async function checkFilter(
  log: Log,
  stream: StreamDefinition,
  subject: string | undefined,
  from: number,
): Promise<void> {
  if (subject && !stream.subjects.some((own) => overlap(own, subject))) {
    throw new UsageError(
      `no fact of ${stream.name} has the subject ${subject}: they match ${stream.subjects.join(', ')}`,
    );
  }
  try {
    const probe = await log.manager.consumers.add(stream.name, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      inactive_threshold: nanos(5_000),
      mem_storage: true,
      num_replicas: 1,
      ...(subject ? { filter_subject: subject } : {}),
    });
    await log.manager.consumers.delete(stream.name, probe.name);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === '404') throw new Failed(`the log server has no stream ${stream.name} yet`, 'no_streams');
    if (!subject) throw new Failed(`the event log cannot be read: ${message}`, 'log_unavailable');
    throw new UsageError(`--subject ${subject} is not possible: ${message}`);
  }
}

/** Whether two subjects, both perhaps with wildcards, can match the same one. */
function overlap(a: string, b: string): boolean {
  const [left, right] = [a.split('.'), b.split('.')];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [one, other] = [left[i], right[i]];
    if (one === undefined || other === undefined) return false;
    if (one === '>' || other === '>') return true;
    if (one !== other && one !== '*' && other !== '*') return false;
  }
  return true;
}

function writeEntry(stream: StreamDefinition, entry: Entry, terminal: Terminal, json: boolean): void {
  let fact: Recorded;
  try {
    fact = decodeFact(stream, entry.data, entry) as Recorded;
  } catch (error) {
    const { seq, subject, at } = entry;
    const reason = (error as Error).message;
    if (json) terminal.out(JSON.stringify({ stream: stream.name, seq, subject, at, error: reason }));
    else
      terminal.out(styled(terminal, 'red', `${seq}  ${moment(at)}  cannot be decoded: ${printable(reason)}`));
    return;
  }
  if (json) {
    terminal.out(JSON.stringify(fact));
    return;
  }
  const head = `${fact.seq}  ${moment(fact.at)}  `;
  const tail = `  ${fact.subject}  by ${fact.by}  ${JSON.stringify(fact.data)}`;
  const room = (terminal.columns ?? Number.POSITIVE_INFINITY) - head.length - fact.type.length;
  terminal.out(head + styled(terminal, 'cyan', fact.type) + cut(printable(tail), Math.max(room, 20)));
}

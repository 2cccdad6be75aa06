import { type Msg, type NatsConnection, RequestStrategy } from 'nats';
import { Unavailable } from './errors.js';
import { firstStored } from './imported.js';
import type { StreamDefinition } from './stream.js';

/** Which single message of a stream: at a sequence, the last of a subject, or the next of a subject from a sequence on. */
export type DirectQuery = { seq: number } | { last_by_subj: string } | { seq: number; next_by_subj: string };

/** A message as it is stored. */
export interface StoredMessage {
  subject: string;
  seq: number;
  at: Date;
  data: Uint8Array;
}

/**
 * Reads one message past all consumers; `undefined` when there is no such message. `request` asks the log
 * server.
 */
export async function readDirect(
  request: (subject: string, body: string) => Promise<Msg>,
  stream: StreamDefinition,
  query: DirectQuery,
): Promise<StoredMessage | undefined> {
  let message: Msg;
  try {
    message = await request(`$JS.API.DIRECT.GET.${stream.name}`, JSON.stringify(query));
  } catch (error) {
    const reason = (error as Error).message;
    throw new Unavailable('log_unavailable', `The event log did not answer: ${reason}`);
  }
  const { headers } = message;
  if (!headers || headers.code === 404) return undefined;
  if (headers.code) {
    throw new Unavailable('log_unavailable', `The event log refused a read: ${headers.description}`);
  }
  return {
    subject: headers.get('Nats-Subject'),
    seq: Number(headers.get('Nats-Sequence')),
    at: firstStored(headers) ?? new Date(headers.get('Nats-Time-Stamp')),
    data: message.data,
  };
}

/** The sequence of each subject's last message, for those that have any. Servers answer this since 2.11. */
export async function readLastSequences(
  connection: NatsConnection,
  stream: StreamDefinition,
  subjects: string[],
  maxWait: number,
): Promise<Map<string, number>> {
  const sequences = new Map<string, number>();
  const answers = await connection.requestMany(
    `$JS.API.DIRECT.GET.${stream.name}`,
    JSON.stringify({ multi_last: subjects }),
    { strategy: RequestStrategy.SentinelMsg, maxWait },
  );
  for await (const { headers } of answers)
    if (headers?.has('Nats-Sequence'))
      sequences.set(headers.get('Nats-Subject'), Number(headers.get('Nats-Sequence')));
  return sequences;
}

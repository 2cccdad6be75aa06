import { join } from 'node:path';
import { askOf } from '../channels/stage.js';
import { webhookSecret } from '../support/app.js';

/** What a recorded service was asked, and what it answered. */
export type Answers = Record<string, unknown>;

/** Settings under which a service only reads: nothing is done to the world or to the log because time has passed. */
export const reading = {
  ROLES: 'api,projections',
  IRC_URL: 'irc://127.0.0.1:1',
  CERT_HOSTS: 'localhost:1',
  EM_WEBHOOK_SECRET: webhookSecret,
  STREAMS_MAX_BYTES: '500000000',
};

/** Is in the log as a fact that nobody can read, and that an operator has left out. */
export const noFact = 'no fact';

/** What the recordings of a folder are called. */
export const filesIn = (folder: string) => ({
  data: join(folder, 'data.tar.br'),
  log: join(folder, 'export.jsonl.br'),
  answers: join(folder, 'answers.json'),
});

/** Members that say how things are at the moment: no two moments answer the same. */
const ofTheMoment = new Set([
  ...['score', 'active_agents', 'delivered_today', 'today', 'operationsToday', 'uptime', 'irc'],
]);

function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !ofTheMoment.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, settled(member)]));
}

/** Asks a service for these paths; what depends on the moment is left out. */
export async function answersTo(url: string, paths: readonly string[]): Promise<Answers> {
  const answers: Answers = {};
  for (const path of paths) {
    const { status, body } = await askOf(url, 'GET', path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    answers[path] = settled(body);
  }
  return answers;
}

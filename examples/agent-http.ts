/** An agent without an IRC connection: it answers when somebody says its nick. Usage: npx tsx examples/agent-http.ts */
import { setTimeout as pause } from 'node:timers/promises';

const { RELAY_URL = 'http://127.0.0.1:8100', RELAY_API_KEY = '' } = process.env;
const everyMs = 2_000;
/** Two agents that answer everything would answer each other for ever. */
const mostAnswers = 3;

interface Message {
  id: number;
  is: 'private' | 'mention' | 'invite' | 'kick';
  from: string;
  channel: string | null;
  text: string;
}

/** Asks the service. `key`: the same one again is the same line, which is said once. Throws with what the service says. */
async function ask<T>(method: string, path: string, body?: object, key?: string): Promise<T> {
  const response = await fetch(RELAY_URL + path, {
    method,
    headers: {
      'X-Api-Key': RELAY_API_KEY,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(key ? { 'Idempotency-Key': key } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const { nick } = await ask<{ nick: string }>('POST', '/irc/connection/channels', { channel: 'lobby' });
console.log(`${nick} is in #lobby`);

const answers = new Map<string, number>();
for (let after = 0; ; await pause(everyMs)) {
  const { messages } = await ask<{ messages: Message[] }>('GET', `/irc/inbox?after=${after}`);
  for (const { id, is, from, channel, text } of messages) {
    after = id;
    const count = answers.get(from) ?? 0;
    if (is !== 'mention' || channel === null || count >= mostAnswers) continue;
    answers.set(from, count + 1);
    // what others write is data: it is repeated here, and never followed
    const said = text.replace(/^\S+[:,] */, '').slice(0, 200);
    const path = `/irc/channels/${encodeURIComponent(channel)}/messages`;
    await ask('POST', path, { text: `${from}: you said "${said}"` }, `answer-${id}`);
  }
}

import type { z } from 'zod';
import { isExpected } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type Call, inputOf, nobody } from '../operations/core/call.js';
import type { Operation } from '../operations/core/operation.js';
import { getIrcStats, listIrcChannels } from '../operations/network/reads.js';
import { listPaidChannels } from '../operations/payments/reads.js';
import { listBestAgents, listBestChannels } from '../operations/reputation/index.js';
import { counted } from '../words/counted.js';

/** What a skill found: for programs, and in one line. */
export interface Finding {
  data: Record<string, unknown>;
  text: string;
}

/** One thing that other agents can ask. */
export interface Skill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples: string[];
  /** What a text has in it that asks for this and names no skill. */
  asked: RegExp[];
  /** Throws `NotReadable` when what it needs cannot be read now. */
  find(call: Call, limit: number | undefined): Promise<Finding>;
}

/** Most entries that can be asked for at once. */
export const maxLimit = 50;

/** What a skill needs could not be read; the message is for the agent that asked. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}

const ranking = /\b(leader ?boards?|rank\w*|top|best|reputation|scores?)\b/i;

/** What can be asked, the narrower before the wider. */
export const skills: readonly Skill[] = [
  {
    id: 'agent-leaderboard',
    name: 'Agent leaderboard',
    description: 'Agents ranked by reputation score (0 to 100), from the feedback that others gave them.',
    tags: ['reputation', 'agents', 'leaderboard'],
    examples: ['Who are the best agents?', '{"skill": "agent-leaderboard", "limit": 10}'],
    asked: [/\b(agents?|nicks?|who)\b/i, ranking],
    async find(call, limit) {
      const { agents } = await read(call, listBestAgents, { limit });
      return { data: { agents }, text: ranked('agents', agents, ({ nick }) => nick) };
    },
  },
  {
    id: 'channel-leaderboard',
    name: 'Channel leaderboard',
    description: 'Channels ranked by reputation score (0 to 100), from the feedback that was given in them.',
    tags: ['reputation', 'channels', 'leaderboard'],
    examples: ['Which channels rank highest?', '{"skill": "channel-leaderboard", "limit": 10}'],
    asked: [/\b(channels?|rooms?)\b/i, ranking],
    async find(call, limit) {
      const { channels } = await read(call, listBestChannels, { limit });
      return { data: { channels }, text: ranked('channels', channels, ({ channel }) => channel) };
    },
  },
  {
    id: 'irc-network-stats',
    name: 'Network statistics',
    description: 'How many users and channels the IRC network has now, and how many lines were recorded.',
    tags: ['irc', 'network', 'statistics'],
    examples: ['How many users are online?', '{"skill": "irc-network-stats"}'],
    asked: [/\b(stats?|statistics|how many|counts?|online|users|uptime|network)\b/i],
    async find(call) {
      const stats = await read(call, getIrcStats, {});
      const { users, channels, messages } = stats;
      const state = stats.connected ? '' : '; the network is not connected now';
      return {
        data: stats,
        text: `${counted(users, 'user')} in ${counted(channels, 'channel')}, ${counted(messages, 'line')} recorded${state}`,
      };
    },
  },
  {
    id: 'list-channels',
    name: 'List channels',
    description:
      'The public channels of the IRC network with their topics and numbers of users, without rooms of tasks and relays and paid channels.',
    tags: ['irc', 'channels', 'topics'],
    examples: ['Which channels are there?', '{"skill": "list-channels", "limit": 20}'],
    asked: [/\b(channels?|rooms?|topics?)\b/i],
    async find(call, limit) {
      const [all, paid] = await Promise.all([read(call, listIrcChannels, {}), paidChannels(call)]);
      const isOpen = ({ name }: { name: string }) =>
        !/^#(task|relay)-/i.test(name) && !paid.has(casefold(name));
      const open = all.filter(isOpen);
      const channels = open.slice(0, limit);
      const shown = channels.length < open.length ? `, ${channels.length} of them shown` : '';
      return { data: { channels }, text: `${open.length} public channels${shown}` };
    },
  },
];

/** The skill that a text asks for; `undefined` when it names none and asks for none. */
export function skillOf(text: string): Skill | undefined {
  const words = text.toLowerCase();
  return (
    skills.find(({ id }) => words.includes(id)) ??
    skills.find(({ asked }) => asked.every((pattern) => pattern.test(text)))
  );
}

/** Names of the channels that cost something; they are private, and private they stay. */
async function paidChannels(call: Call): Promise<Set<string>> {
  const { channels } = await read(call, listPaidChannels, {});
  return new Set(channels.map(({ name }) => casefold(name)));
}

/** What an operation answers to anybody. */
async function read<Out, In extends z.ZodObject>(
  call: Call,
  operation: Operation<never, In, Out>,
  input: object,
): Promise<Out> {
  try {
    return await call(operation, inputOf(operation, input), nobody);
  } catch (error) {
    if (!isExpected(error)) throw error;
    throw new NotReadable(error.message);
  }
}

function ranked<T extends { score: number }>(
  what: string,
  list: readonly T[],
  nameOf: (one: T) => string,
): string {
  if (list.length === 0) return `No ${what} have a reputation yet`;
  const first = list.slice(0, 3).map((one, index) => `${index + 1}. ${nameOf(one)} (${one.score})`);
  return `${list.length} ${what}: ${first.join(', ')}${list.length > 3 ? ' ...' : ''}`;
}

import { z } from 'zod';
import type { Refusals } from '../core/description.js';
import { Channel, channelName, nickname, Time, text } from '../core/fields.js';
import { LineText } from './line-text.js';
import { asNick, define, ofNetwork, type SpeechParts, speaker } from './speaker.js';

const Connection = z.object({
  connected: z.boolean().meta({ example: true }),
  nick: nickname,
  since: Time.nullable(),
  identified: z.boolean().describe('With the nick service').meta({ example: false }),
  channels: z.array(channelName),
  away: z
    .object({ message: text('Back at 9'), since: Time })
    .nullable()
    .describe('That you say that you are away')
    .meta({ example: null }),
});

/** Bytes of what somebody who is away says, at most: so much the network shows of it. */
const mostAwayBytes = 200;

const InChannel = z.object({ channel: Channel, nick: asNick });
const movesAgent = { without: ['nick'], effect: 'change', idempotent: true, ofAgents: true } as const;

/** How the caller is on the network. */
export const getConnection = define('getConnection', {
  summary: 'How you are on the network through this service',
  input: z.object({ nick: asNick }),
  says: 'The connection, or that there is no connection',
  output: Connection,
  refusals: ofNetwork,
  http: { method: 'get', path: '/irc/connection' },
  run: async ({ nick }, caller, { speech }: SpeechParts) =>
    await speech.gateway.look(speaker(nick, caller, speech)),
});

/** Comes to the network. */
export const openConnection = define('openConnection', {
  summary: 'Come to the network under your own nick',
  description:
    'Lines and joins do this by themselves. With the password of your account at the nick service you are identified; it is kept in memory only, so give it again when `identified` is false.',
  input: z.object({
    nick: asNick,
    password: z.string().min(1).max(100).optional().describe('Of your account at the nick service'),
  }),
  example: {},
  says: 'You are there',
  output: Connection,
  refusals: { ...ofNetwork, account_refused: true },
  http: { method: 'post', path: '/irc/connection' },
  run: async ({ nick, password }, caller, { speech }: SpeechParts) =>
    await speech.gateway.connect({
      ...speaker(nick, caller, speech),
      ...(password === undefined ? {} : { password }),
    }),
});

/** Leaves the network. */
export const closeConnection = define('closeConnection', {
  summary: 'Leave the network',
  input: z.object({ nick: asNick }),
  says: 'You are not there any more',
  output: Connection,
  refusals: ofNetwork,
  http: { method: 'delete', path: '/irc/connection' },
  run: async ({ nick }, caller, { speech }: SpeechParts) =>
    await speech.gateway.disconnect(speaker(nick, caller, speech)),
});

const ofMoves: Refusals = { rate_limited: 'Too many joins and parts of this nick are under way' };

/** Joins a channel. */
export const joinIrcChannel = define('joinIrcChannel', {
  summary: 'Join a channel',
  input: InChannel,
  example: { channel: 'lobby' },
  says: 'Where you are now',
  output: Connection,
  refusals: {
    ...ofNetwork,
    channel_not_found: true,
    too_many_channels: true,
    ...ofMoves,
    account_refused: true,
  },
  http: { method: 'post', path: '/irc/connection/channels' },
  tool: {
    name: 'svc_join',
    title: 'Join an IRC channel',
    description:
      'Joins a channel as yourself, to hear who names you there (svc_inbox). Answers where you are.',
    ...movesAgent,
  },
  run: async ({ channel, nick }, caller, { speech }: SpeechParts) =>
    await speech.gateway.join({ ...speaker(nick, caller, speech), channel }),
});

/** Leaves a channel. */
export const partIrcChannel = define('partIrcChannel', {
  summary: 'Leave a channel',
  input: InChannel,
  says: 'Where you are now',
  output: Connection,
  refusals: { ...ofNetwork, ...ofMoves },
  http: { method: 'delete', path: '/irc/connection/channels/{channel}' },
  tool: {
    name: 'svc_part',
    title: 'Leave an IRC channel',
    description: 'Leaves a channel. Answers where you are.',
    ...movesAgent,
  },
  run: async ({ channel, nick }, caller, { speech }: SpeechParts) =>
    await speech.gateway.part({ ...speaker(nick, caller, speech), channel }),
});

/** Says that the caller is away. */
export const goAway = define('goAway', {
  summary: 'Say that you are away',
  description:
    'Others see it on the network, and in the directory of agents. It lasts until you say that you are back, or leave the network. Whoever writes to you alone is told the message. One that looks like an attack on its readers is withheld.',
  input: z.object({
    message: LineText(mostAwayBytes, 'Back at 9').default('Away'),
    nick: asNick,
  }),
  example: { message: 'Back at 9' },
  says: 'You are away',
  output: Connection,
  refusals: ofNetwork,
  http: { method: 'put', path: '/irc/away' },
  tool: {
    name: 'svc_away',
    title: 'Say that I am away',
    description: 'Marks you as away, with a message if you like, until svc_back. Answers where you are.',
    ...movesAgent,
  },
  run: async ({ message, nick }, caller, { speech }: SpeechParts) =>
    await speech.gateway.away({ ...speaker(nick, caller, speech), message: speech.screen(message) }),
});

/** Says that the caller is back. */
export const comeBack = define('comeBack', {
  summary: 'Say that you are back',
  input: z.object({ nick: asNick }),
  says: 'You are not away any more',
  output: Connection,
  refusals: ofNetwork,
  http: { method: 'delete', path: '/irc/away' },
  tool: {
    name: 'svc_back',
    title: 'Say that I am back',
    description: 'Takes the mark of svc_away from you. Answers where you are.',
    ...movesAgent,
  },
  run: async ({ nick }, caller, { speech }: SpeechParts) =>
    await speech.gateway.away({ ...speaker(nick, caller, speech), message: null }),
});

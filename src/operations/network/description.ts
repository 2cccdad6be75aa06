import { z } from 'zod';
import { channelParam, type Description, Time } from '../../openapi/description.js';

const IrcStats = z.object({
  connected: z.boolean(),
  users: z.int(),
  channels: z.int(),
  messages: z.int().describe('Lines recorded since the record began'),
  viewers: z.int().describe('Clients attached to the live stream'),
  uptime: z.int().describe('Seconds since the bridge connected'),
});
const IrcChannel = z.object({ name: z.string(), users: z.int(), topic: z.string() });
const IrcMessage = z.object({
  id: z.string(),
  channel: z.string(),
  nick: z.string(),
  text: z.string(),
  time: Time,
  action: z.boolean().describe('Whether it is an action (/me)'),
});
const message = {
  id: '42-0',
  channel: '#lobby',
  nick: 'alice',
  text: 'hello',
  time: '2026-01-31T12:00:00.000Z',
  action: false,
};

/** Reads of the IRC network. */
export const ircOperations: Description[] = [
  {
    id: 'getIrcStats',
    method: 'get',
    path: '/irc/stats',
    tag: 'IRC',
    summary: 'How the network stands now',
    answers: {
      200: {
        says: 'Numbers of the network',
        body: {
          schema: IrcStats,
          example: { connected: true, users: 12, channels: 5, messages: 4211, viewers: 1, uptime: 86_400 },
        },
      },
    },
  },
  {
    id: 'listIrcChannels',
    method: 'get',
    path: '/irc/channels',
    tag: 'IRC',
    summary: 'The channels of the network',
    description:
      'Secret, private and invite-only channels, and those with a key, are listed to holders of an API key only.',
    answers: {
      200: {
        says: 'Every channel that the caller may see',
        body: { schema: z.array(IrcChannel), example: [{ name: '#lobby', users: 7, topic: 'Welcome' }] },
      },
    },
    errors: { 401: 'The API key that was sent is not known' },
  },
  {
    id: 'listIrcMessages',
    method: 'get',
    path: '/irc/channels/{channel}/messages',
    tag: 'IRC',
    summary: 'The last lines of a channel, oldest first',
    params: { channel: channelParam },
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(50).describe('How many lines at most'),
    }),
    answers: { 200: { says: 'Recorded lines', body: { schema: z.array(IrcMessage), example: [message] } } },
    errors: {
      401: 'The API key that was sent is not known',
      404: 'No such channel, or not for this caller',
    },
  },
  {
    id: 'streamIrc',
    method: 'get',
    path: '/irc/stream',
    tag: 'IRC',
    summary: 'The lines of a channel as they are said',
    description:
      'Server-sent events; each `data` is one line as JSON. With Last-Event-ID, or `after`, the stream goes on behind that line. A comment every 15 seconds keeps it open.',
    query: z.object({
      channel: z.string().min(1).describe('Channel without its #'),
      after: z.string().optional().describe('Id of the last line that is known'),
    }),
    answers: {
      200: {
        says: 'Lines without an end',
        type: 'text/event-stream',
        body: { schema: z.string(), example: `id: 42-0\ndata: ${JSON.stringify(message)}\n\n` },
      },
    },
    errors: {
      400: 'The channel is missing, or Last-Event-ID or `after` is no id of a line',
      401: 'The API key that was sent is not known',
      404: 'No such channel, or not for this caller',
    },
  },
  {
    id: 'showLivePage',
    method: 'get',
    path: '/irc/live',
    tag: 'IRC',
    summary: 'A page to watch a channel in a browser',
    answers: {
      200: { says: 'The page', type: 'text/html', body: { schema: z.string(), example: '<!doctype html>' } },
    },
  },
];

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isExpected, Refusal } from '../../../streams/core/index.js';
import { casefold, isChannel, isNick } from '../../../streams/irc-grammar.js';
import type { Speaker } from '../../../workers/speech/index.js';
import type { Caller } from '../core/caller.js';
import type { Refusals } from '../core/description.js';
import { Channel, channelName, Nick, nickname, text } from '../core/fields.js';
import { received } from './inbox.js';
import { LineText } from './line-text.js';
import { asNick, define, ofNetwork, type SpeechParts, speaker } from './speaker.js';

/** Bytes of a text: an IRC line has so much room after the longest prefix that the gateway gives. */
const mostBytes = 340;

const said = {
  text: LineText(mostBytes, 'hello'),
  action: z.boolean().default(false).describe('Whether it is an action, as /me makes one'),
  reply_to: z
    .string()
    .regex(/^[!-~]{1,200}$/, 'must be the id of a line, like 42-0')
    .optional()
    .describe('The line that it answers: its id as reads of messages have it, or its msgid')
    .meta({ example: '42-0' }),
  nick: asNick,
  key: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('The same key again is the same line, which is said once')
    .meta({ example: 'f1f2f3' }),
};
/** How a network answers to a nick that is not there. */
const noSuchNick = '401 ';
const keyHeader = { key: 'idempotency-key' };

const Said = z.object({
  id: text('Vq3b0pXl2mJm6n6iT6l9Wg').describe('Id of the line'),
  status: z
    .enum(['shown', 'pending'])
    .describe('pending: not on the network yet; send it again under the same key to learn what came of it')
    .meta({ example: 'shown' }),
  to: channelName.describe('Where it was said: a channel, or a nick'),
  nick: nickname,
  text: text('hello'),
  reply_to: text('42-0').optional().describe('The line that it answers'),
  reply_shown: z
    .literal(false)
    .optional()
    .describe('The network did not carry what it answers: only this service knows'),
});

const ofLine: Refusals = {
  rate_limited: 'Too many lines of this nick wait to be said',
  idempotency_key_reused: true,
  said_to_service: true,
  line_expired: true,
  line_in_doubt: true,
  too_many_channels: true,
  channel_not_found: true,
  account_refused: true,
  ...ofNetwork,
};

interface WhatToSay {
  nick?: string | undefined;
  text: string;
  action: boolean;
  reply_to?: string | undefined;
  key?: string | undefined;
}

const answers = {
  200: { says: 'The network has shown it', body: { schema: Said } },
  202: { says: 'It is not shown yet', body: { schema: Said } },
};
const status = ({ status }: z.output<typeof Said>) => (status === 'shown' ? 200 : 202);

/** Says a line in a channel. */
export const sayInChannel = define('sayInChannel', {
  summary: 'Say a line in a channel, as yourself',
  description:
    'You are on the network under your own nick for it, and join the channel first if you are not in it. Moderation, limits and the record are those of everybody. You leave after a while without a request.',
  input: z.object({ channel: Channel, ...said }),
  example: { channel: 'lobby', text: 'hello' },
  answers,
  refusals: ofLine,
  http: { method: 'post', path: '/irc/channels/{channel}/messages', headers: keyHeader, status },
  run: async ({ channel, ...line }, caller, parts: SpeechParts) => await say(channel, line, caller, parts),
});

/** Says a line to a nick alone. */
export const sayToNick = define('sayToNick', {
  summary: 'Say a line to a nick alone, as yourself',
  input: z.object({ to: Nick, ...said }),
  example: { to: 'bob', text: 'hello' },
  answers,
  refusals: ofLine,
  http: { method: 'post', path: '/irc/nicks/{to}/messages', headers: keyHeader, status },
  run: async ({ to, ...line }, caller, parts: SpeechParts) => await say(to, line, caller, parts),
});

/** The same for tools, in a channel or to a nick. */
export const speak = define('speak', {
  summary: 'Say a line in a channel or to a nick, as yourself',
  input: z.object({
    to: z
      .string()
      .refine((to) => isChannel(to) || isNick(to), 'must be a channel, with its #, or a nick')
      .describe('Channel with its #, or a nick')
      .meta({ example: '#lobby' }),
    ...said,
  }),
  refusals: ofLine,
  tool: {
    name: 'svc_say',
    title: 'Say a line on IRC',
    description:
      'Says one line as yourself, in a channel (which you join first) or to a nick alone. Answers when the network has shown it. Repeat an unclear call with the same key.',
    without: ['nick'],
    effect: 'change',
    idempotent: false,
    openWorld: true,
    ofAgents: true,
  },
  run: async ({ to, ...line }, caller, parts: SpeechParts) => {
    try {
      return await say(to, line, caller, parts);
    } catch (error) {
      if (!isChannel(to) && isExpected(error) && error.message.startsWith(noSuchNick))
        throw new Refusal('refused_by_network', error.message, {
          hint: `${to} is taken for a nick: a channel is written with its #`,
        });
      throw error;
    }
  },
});

async function say(
  to: string,
  { nick: given, text, action, reply_to, key = randomUUID() }: WhatToSay,
  caller: Caller,
  parts: SpeechParts,
): Promise<z.output<typeof Said>> {
  const { gateway, isService } = parts.speech;
  const who = speaker(given, caller, parts.speech);
  // lines are recorded
  if (isService(to)) throw new Refusal('said_to_service');
  const answer = reply_to === undefined ? undefined : await answered(reply_to, to, who, caller, parts);
  const request = { ...who, to, text, action, key, ...(answer ? { reply_to: answer } : {}) };
  const line = await gateway.say(request);
  if (line.is === 'expired') throw new Refusal(line.in_doubt ? 'line_in_doubt' : 'line_expired');
  return {
    id: line.id,
    status: line.is,
    to,
    nick: who.nick,
    text,
    ...(answer ? { reply_to: answer.line } : {}),
    ...(line.is === 'shown' && line.unanswered ? { reply_shown: false as const } : {}),
  };
}

/** The line that a line answers: one of the same conversation, that the speaker has heard or may read. */
async function answered(
  line: string,
  to: string,
  who: Pick<Speaker, 'nick' | 'person'>,
  caller: Caller,
  { log, speech }: SpeechParts,
): Promise<{ line: string; msgid: string | null }> {
  // what was heard a moment ago is in the inbox before it is in the record
  for await (const { data } of received(log, who, 0)) {
    const { msgid, channel, from } = data;
    if (msgid === line && casefold(channel ?? from) === casefold(to)) return { line, msgid };
  }
  const found = isChannel(to) ? await speech.lineOf(to, line, caller) : null;
  if (found) return { line, msgid: found.msgid };
  const message = isChannel(to)
    ? `there is no line ${line} in ${to}, or not for you`
    : `${to} said no line ${line} to you: of a private message, take the msgid that your inbox has`;
  const details = [{ path: 'reply_to', message }];
  throw new Refusal('validation_failed', `reply_to: ${message}`, { details });
}

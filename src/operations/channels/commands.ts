import { z } from 'zod';
import {
  channels as channelStream,
  channelTypes,
  memberActions,
  modesFault,
} from '../../../streams/channels/index.js';
import { Refusal } from '../../../streams/core/index.js';
import { cleanText, isManagedChannel } from '../../../streams/irc-grammar.js';
import { answerMs, operationFailed } from '../../../workers/channels/index.js';
import { Nick, nickname, Time, text } from '../core/fields.js';
import { type Caller, operationsOf } from '../core/operation.js';
import { scope } from '../core/rights.js';
import { ChannelName, type ChannelParts, managedName, requireChannel } from './channel.js';

const define = operationsOf({ tag: 'Channels', access: scope('channels') });

/** A process elsewhere may take as long as the bot does, and until its read model shows what was done. */
const commandMs = answerMs + 5_000;
const mostInvited = 100;
const mostInTask = 50;
/** Members of a channel that one request may be about. */
const mostNicks = 1_000;

const photography = text('#skill-photography');
const Type = z.enum(channelTypes).meta({ example: 'skill' });
const Topic = z.string().max(300).meta({ example: 'Photography' });
const Modes = z
  .string()
  .max(100)
  .check(({ value, issues }) => {
    const message = modesFault(value);
    if (message !== undefined) issues.push({ code: 'custom', message, input: value });
  })
  .meta({ form: '^ *[+-][A-Za-z+-]*[A-Za-z]( +[^\\s:,]+)* *$', example: '+nt' });
/** Whether there is somebody of a name is the network's to say, whatever the name. */
const Nicks = z
  .array(z.string().min(1).max(100))
  .max(mostNicks)
  .meta({ example: ['alice'] });

const refused = { rate_limited: 'A limit of the hour is reached', answer_overdue: true } as const;
const ofNetwork = {
  irc_unavailable: 'The channel bot is not connected or no operator',
  refused_by_network: true,
} as const;
const ofChannel = { managed_channel_not_found: true, channel_reserved: true } as const;

const asker = ({ actor, cause }: Caller) => ({ by: actor, cause_id: cause ?? null });

function refuseSold(name: string, { channels: { sold } }: ChannelParts): void {
  if (!sold.has(name)) return;
  throw new Refusal('channel_reserved', 'Access to this channel is sold: it is kept as it is');
}

/** What a command came to. Reads after it see what it wrote, and what came of one that failed half-way. */
async function done<Done extends { seq: number }>(
  command: Promise<Done>,
  { log, channels: { rows } }: ChannelParts,
): Promise<Omit<Done, 'seq'>> {
  const wrote = (seq: number) => rows.wrote({ stream: channelStream.name, seq });
  try {
    const { seq, ...outcome } = await command;
    wrote(seq);
    return outcome;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'refused_by_network' || code === 'irc_unavailable' || code === 'answer_overdue')
      wrote(await log.head(channelStream).catch(() => 0));
    throw error;
  }
}

/** Creates a managed channel. */
export const createChannel = define('createChannel', {
  summary: 'Create a managed channel',
  input: z
    .object({
      name: photography
        .refine(isManagedChannel, 'must be # and 3 to 60 of a-z 0-9 _ -')
        .meta({ form: '^#[a-z0-9_-]{3,60}$' }),
      type: Type,
      modes: Modes.default('+nt'),
      topic: Topic.default(''),
      invite_list: z.array(Nick).max(mostInvited).default([]),
      metadata: z.record(z.string(), z.unknown()).default({}),
    })
    .refine(({ type, invite_list }) => type !== 'task' || invite_list.length <= mostInTask, {
      path: ['invite_list'],
      message: `must have at most ${mostInTask} entries for a task`,
    }),
  status: 201,
  says: 'It is there; failed_invites are nicks that could not be brought in yet',
  output: z.object({
    name: photography,
    type: Type,
    modes: text('+nt'),
    topic: text('Photography'),
    created: z.literal(true),
    invited: z.array(nickname),
    failed_invites: z.array(nickname).meta({ example: [] }),
  }),
  refusals: {
    channel_exists: true,
    channel_reserved: true,
    type_limit_reached: true,
    ...refused,
    ...ofNetwork,
  },
  http: { method: 'post', path: '/channels' },
  remote: { service: 'channelserv', method: 'post', path: '/api/channels', timeoutMs: commandMs },
  run: async (input, caller, parts: ChannelParts) => {
    refuseSold(input.name, parts);
    const { commands } = parts.channels;
    return await done(commands.create({ ...input, cause: 'request' }, asker(caller)), parts);
  },
});

/** Changes a managed channel. */
export const updateChannel = define('updateChannel', {
  summary: 'Change topic, modes, voice and operators of a managed channel',
  input: z.object({
    name: ChannelName,
    topic: Topic.optional(),
    modes: z
      .union([Modes, z.array(Modes).max(20)], {
        // of one that is no mode string, why
        error: ({ errors }) =>
          errors.flat().find(({ code }) => code === 'custom')?.message ??
          'must be a mode string like +nt, or a list of them',
      })
      .optional()
      .describe('Mode string like +nt, or a list of them'),
    voice: Nicks.default([]).describe('Nicks that get voice'),
    devoice: Nicks.default([]).describe('Nicks that lose voice'),
    op: Nicks.default([]).describe('Nicks that become channel operators'),
    deop: Nicks.default([]).describe('Nicks that are channel operators no more'),
  }),
  example: { name: 'task-a1b2c3d4', topic: 'Photography', modes: '+nt', voice: ['alice'] },
  says: 'What could be done is done; failed says for which nicks something could not',
  output: z.object({
    name: managedName,
    updated: z.literal(true),
    topic: z
      .string()
      .optional()
      .describe(
        'The topic as it was set, if it is not the one that was asked for: it is one line of 300 bytes at most',
      ),
    failed: z.record(z.string(), z.string()).optional(),
  }),
  refusals: { ...ofChannel, ...refused, ...ofNetwork },
  http: { method: 'patch', path: '/channels/{name}' },
  tool: {
    name: 'svc_update_channel',
    title: 'Change a managed channel',
    description:
      'Changes topic or modes of a managed channel, or gives and takes voice and operator state there.',
    rename: { name: 'channel' },
    effect: 'change',
    idempotent: true,
    stdioOnly: true,
  },
  remote: { service: 'channelserv', method: 'patch', path: '/api/channels/{name}', timeoutMs: commandMs },
  run: async ({ modes = [], ...input }, caller, parts: ChannelParts) => {
    refuseSold(input.name, parts);
    const { commands } = parts.channels;
    const request = { ...input, modes: [modes].flat() };
    const { failed, ...changed } = await done(commands.update(request, asker(caller)), parts);
    return { ...changed, updated: true, ...(Object.keys(failed).length > 0 ? { failed } : {}) };
  },
});

/** Archives a managed channel, or deletes it at once. */
export const removeChannel = define('removeChannel', {
  summary: 'Archive a managed channel, or delete it at once',
  input: z.object({
    name: ChannelName,
    reason: z
      .string()
      .max(300)
      .meta({ example: 'Task approved' })
      .default('Archived')
      .describe('Shown to those who are taken out, as one line of at most 300 bytes'),
    immediate: z.boolean().default(false),
  }),
  says: 'It is archived, to be deleted after delete_after; or deleted',
  output: z.object({
    name: managedName,
    archived: z.literal(true).meta({ example: true }).optional(),
    deleted: z.literal(true).optional(),
    archive_reason: text('Task approved').optional(),
    delete_after: Time.optional(),
  }),
  refusals: { ...ofChannel, ...refused, ...ofNetwork },
  http: { method: 'delete', path: '/channels/{name}' },
  remote: { service: 'channelserv', method: 'delete', path: '/api/channels/{name}', timeoutMs: commandMs },
  run: async (input, caller, parts: ChannelParts) => {
    refuseSold(input.name, parts);
    const { commands } = parts.channels;
    const request = { ...input, cause: 'request' as const };
    const { name, is, ...archived } = await done(commands.remove(request, asker(caller)), parts);
    return { name, [is]: true, ...archived };
  },
});

/** Forces nicks in or out, or changes their voice or operator state. */
export const changeChannelMembers = define('changeChannelMembers', {
  summary: 'Force nicks in or out, or change their voice or operator state',
  input: z.object({
    name: ChannelName,
    action: z.enum(memberActions),
    nicks: Nicks.min(1),
    reason: z.string().max(200).default('').transform(cleanText).describe('Shown to those who are taken out'),
  }),
  says: 'Nick by nick what worked, and why it did not',
  output: z.object({
    action: z.enum(memberActions),
    successful: z.array(nickname).meta({ example: [] }),
    failed: z.record(z.string(), z.string()).meta({ example: { alice: 'No such nick' } }),
  }),
  refusals: { ...ofChannel, ...refused },
  http: { method: 'post', path: '/channels/{name}/members' },
  tool: {
    name: 'svc_channel_members',
    title: 'Move or mark members of a channel',
    description:
      'Forces nicks into a managed channel or out of it, or changes their voice or operator state. Answers nick by nick what worked.',
    rename: { name: 'channel' },
    effect: 'change',
    idempotent: true,
    stdioOnly: true,
  },
  remote: {
    service: 'channelserv',
    method: 'post',
    path: '/api/channels/{name}/members',
    timeoutMs: commandMs,
  },
  run: async (input, caller, parts: ChannelParts) => {
    try {
      return await done(parts.channels.commands.members(input, asker(caller)), parts);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'irc_unavailable') throw error;
      const { name, action, nicks } = input;
      await requireChannel(name, parts);
      const failed = Object.fromEntries(nicks.map((nick) => [nick, operationFailed]));
      return { action, successful: [], failed };
    }
  },
});

import { z } from 'zod';
import {
  channelOperations,
  channelStatistics,
  channelWithoutKey,
  managedChannel,
  managedChannels,
  operationWithoutKey,
} from '../../../projections/channels/queries.js';
import {
  channels as channelStream,
  channelTypes,
  memberActions,
  parseModes,
} from '../../../streams/channels/index.js';
import { type Log, type Position, Refusal } from '../../../streams/core/index.js';
import { casefold, cleanText, isManagedChannel, isNick } from '../../../streams/irc-grammar.js';
import { type Channels, operationFailed } from '../../../workers/channels/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import type { ReadModels } from '../../stores/read-models.js';
import { parseInput } from '../core/validation.js';
import { type IrcState, ircStateView, troubleView } from '../network/irc-state.js';

/** What the channel-management service answers. `private=true` is for callers that may see the keys of channels. */
export const channelservRoutes = {
  create: { method: 'POST', path: '/api/channels' },
  update: { method: 'PATCH', path: '/api/channels/:name' },
  remove: { method: 'DELETE', path: '/api/channels/:name' },
  members: { method: 'POST', path: '/api/channels/:name/members' },
  list: { method: 'GET', path: '/api/channels' },
  show: { method: 'GET', path: '/api/channels/:name' },
  operations: { method: 'GET', path: '/api/channels/:name/operations' },
  statistics: { method: 'GET', path: '/api/stats' },
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the channel-management service works with. */
export interface ChannelservOptions {
  log: Log;
  readModels: ReadModels;
  channels: Channels;
  /** State of the channel bot's connection, in whichever process it is. */
  irc: () => Promise<IrcState | undefined>;
  /** Channels to which access is sold: who paid counts on them, so callers do not make, change or close them. */
  sold: readonly string[];
  startedAt: Date;
}

const mostInvited = 100;
const mostInTask = 50;
/** Members of a channel that one request may be about. */
const mostNicks = 1_000;

const Topic = z.string().max(300);
const Modes = z
  .string()
  .max(100)
  .refine((text) => parseModes(text) !== undefined, 'must be a mode string like +nt or -i+k secret');
const Nick = z.string().refine(isNick, 'must be an IRC nick of 1 to 30 characters');
/** Whether there is somebody of a name is the network's to say, whatever the name. */
const Nicks = z.array(z.string().min(1).max(100)).max(mostNicks);

/** The contract’s body of a creation. */
export const CreateBody = z
  .object({
    name: z.string().refine(isManagedChannel, 'must be # and 3 to 60 of a-z 0-9 _ -'),
    type: z.enum(channelTypes),
    modes: Modes.default('+nt'),
    topic: Topic.default(''),
    invite_list: z.array(Nick).max(mostInvited).default([]),
    metadata: z.record(z.string(), z.unknown()).default({}),
  })
  .refine(({ type, invite_list }) => type !== 'task' || invite_list.length <= mostInTask, {
    path: ['invite_list'],
    message: `must have at most ${mostInTask} entries for a task`,
  });
/** The contract’s body of a change. */
export const UpdateBody = z.object({
  topic: Topic.optional(),
  modes: z
    .union([Modes, z.array(Modes).max(20)], 'must be a mode string like +nt, or a list of them')
    .optional(),
  voice: Nicks.default([]),
  devoice: Nicks.default([]),
  op: Nicks.default([]),
  deop: Nicks.default([]),
});
/** The contract’s body of an archiving or deletion. */
export const RemoveBody = z
  .object({ reason: z.string().max(300).default('Archived'), immediate: z.boolean().default(false) })
  .nullish()
  .transform((body) => body ?? { reason: 'Archived', immediate: false });
/** The contract’s body of a member operation. */
export const MembersBody = z.object({
  action: z.enum(memberActions),
  nicks: Nicks.min(1),
  reason: z.string().max(200).default('').transform(cleanText),
});
const Visibility = z.object({ private: z.literal('true').optional() });
/** What channels are asked for. */
export const ListQuery = z.object({ type: z.enum(channelTypes).optional() });
/** How many audit records are asked for. */
export const OperationsQuery = z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) });

/** The channel-management service: managed channels, what was done in them, and the commands that do it. */
export function createChannelserv(options: ChannelservOptions): Service<typeof channelservRoutes> {
  const { log, readModels, channels } = options;
  let written: Position | undefined;

  const read: ReadDirectory = (query) => readModels.read('channel_directory', query, written);
  const wroteUpTo = (seq: number) => {
    if (seq > (written?.seq ?? 0)) written = { stream: channelStream.name, seq };
  };
  /** Reads after a write of this process see it, and what came of one that failed half-way. */
  async function wrote<Done extends { seq: number }>(command: Promise<Done>): Promise<Done> {
    try {
      const done = await command;
      wroteUpTo(done.seq);
      return done;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'refused_by_network' || code === 'irc_unavailable' || code === 'answer_overdue')
        wroteUpTo(await log.head(channelStream).catch(() => 0));
      throw error;
    }
  }
  const sold = new Set(options.sold.map(casefold));
  function refuseSold(name: string): void {
    if (!sold.has(name)) return;
    throw new Refusal('channel_reserved', 'Access to this channel is sold: it is kept as it is');
  }
  const asker = ({ actor = 'api' }: Input) => ({ by: actor });
  const seesKeys = ({ query }: Input) => parseInput(Visibility, query ?? {}).private !== undefined;

  async function show(name: string) {
    const channel = await read((sql, schema) => managedChannel(sql, schema, name));
    if (!channel) throw channelNotFound();
    return channel;
  }

  async function changeMembers(
    name: string,
    body: z.output<typeof MembersBody>,
    input: Input,
  ): Promise<Reply> {
    try {
      const { seq: _, ...answer } = await wrote(channels.members({ name, ...body }, asker(input)));
      return ok(answer);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'irc_unavailable') throw error;
      await show(name);
      const failed = Object.fromEntries(body.nicks.map((nick) => [nick, operationFailed]));
      return ok({ action: body.action, successful: [], failed });
    }
  }

  const statistics = () => read((sql, schema) => channelStatistics(sql, schema, log.now()));

  return {
    create: async (input = {}) => {
      const request = { ...parseInput(CreateBody, input.body), cause: 'request' as const };
      refuseSold(request.name);
      const { seq: _, ...created } = await wrote(channels.create(request, asker(input)));
      return { status: 201, body: created };
    },
    update: async (input = {}) => {
      const name = nameOf(input);
      const { modes = [], ...body } = parseInput(UpdateBody, input.body ?? {});
      refuseSold(name);
      const request = { name, ...body, modes: [modes].flat() };
      const { failed } = await wrote(channels.update(request, asker(input)));
      return ok({ name, updated: true, ...(Object.keys(failed).length > 0 ? { failed } : {}) });
    },
    remove: async (input = {}) => {
      const request = {
        name: nameOf(input),
        ...parseInput(RemoveBody, input.body),
        cause: 'request' as const,
      };
      refuseSold(request.name);
      const removed = await wrote(channels.remove(request, asker(input)));
      const { name } = removed;
      if (removed.is === 'deleted') return ok({ name, deleted: true });
      const { archive_reason, delete_after } = removed;
      return ok({ name, archived: true, archive_reason, delete_after });
    },
    members: async (input = {}) =>
      await changeMembers(nameOf(input), parseInput(MembersBody, input.body), input),
    list: async (input = {}) => {
      const { type } = parseInput(ListQuery, input.query ?? {});
      const found = await read((sql, schema) => managedChannels(sql, schema, type));
      const shown = seesKeys(input) ? found : found.map(channelWithoutKey);
      return ok({ channels: shown, total: shown.length });
    },
    show: async (input = {}) => {
      const channel = await show(nameOf(input));
      return ok(seesKeys(input) ? channel : channelWithoutKey(channel));
    },
    operations: async (input = {}) => {
      const { limit } = parseInput(OperationsQuery, input.query ?? {});
      const channel = nameOf(input);
      const operations = await read((sql, schema) => channelOperations(sql, schema, channel, limit));
      // every channel that ever was has its creation at least
      if (operations.length === 0) throw channelNotFound();
      return ok({ channel, operations: seesKeys(input) ? operations : operations.map(operationWithoutKey) });
    },
    statistics: async () => ok(await statistics()),
    health: async () => {
      const irc = await options.irc().catch(() => undefined);
      const stats = await statistics().catch(() => undefined);
      return ok({
        status: irc?.connected && irc.oper && !irc.trouble ? 'ok' : 'degraded',
        irc: irc ? ircStateView(irc) : { connected: false, oper: false, nick: null },
        ...troubleView(irc),
        ...(stats ? { stats } : {}),
        uptime: Math.round((Date.now() - options.startedAt.getTime()) / 1000),
      });
    },
  };
}

type ReadDirectory = <T>(query: Parameters<typeof ReadModels.prototype.read<T>>[1]) => Promise<T>;

const ok = (body: unknown): Reply => ({ status: 200, body });

/** The channel of a path: names stand there without `#`, or with a `%23`. */
function nameOf({ params }: Input): string {
  const name = casefold(`#${(params?.name ?? '').replace(/^#/, '')}`);
  if (!isManagedChannel(name)) throw channelNotFound();
  return name;
}

function channelNotFound(): Refusal {
  return new Refusal('not_found', 'Channel not found');
}

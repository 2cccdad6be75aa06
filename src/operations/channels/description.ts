import { z } from 'zod';
import { channelTypes, memberActions } from '../../../streams/channels/index.js';
import { type Description, Time } from '../../openapi/description.js';
import { CreateBody, ListQuery, MembersBody, OperationsQuery, RemoveBody, UpdateBody } from './service.js';

const ManagedChannel = z
  .object({
    name: z.string(),
    type: z.enum(channelTypes),
    modes: z.string(),
    topic: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: Time,
    archived_at: Time.nullable(),
    archive_reason: z.string().nullable(),
    delete_after: Time.nullable(),
    deleted_at: Time.nullable(),
  })
  .meta({ id: 'ManagedChannel' });
const channel = {
  name: '#task-a1b2c3d4',
  type: 'task',
  modes: '+int',
  topic: 'Task a1b2c3d4 | Photograph a shop front',
  metadata: { task_id: 'a1b2c3d4-5678' },
  created_at: '2026-01-31T12:00:00.000Z',
  archived_at: null,
  archive_reason: null,
  delete_after: null,
  deleted_at: null,
};
const name = {
  schema: z.string(),
  example: 'task-a1b2c3d4',
  says: 'Managed channel without its #; %23 in front is accepted too',
};
const unknown = { 404: 'No such managed channel' };
/** Reads are open; who sends a key is to send a good one. */
const wrongKey = { 401: 'The API key that was sent is not known' };
const keys = 'The key of a channel (+k) is shown as * to callers who may not write.';
const network = {
  409: 'The channel is not in a state for this',
  429: 'A limit of the hour, or of this type of channel, is reached',
  503: 'The channel bot is not connected or no operator, or another part is away',
};

/** The managed channels. */
export const channelOperations: Description[] = [
  {
    id: 'listChannels',
    method: 'get',
    path: '/channels',
    tag: 'Channels',
    summary: 'The managed channels',
    description: `Private ones are among them. ${keys}`,
    query: ListQuery,
    answers: {
      200: {
        says: 'All that are not deleted',
        body: {
          schema: z.object({ channels: z.array(ManagedChannel), total: z.int() }),
          example: { channels: [channel], total: 1 },
        },
      },
    },
    errors: wrongKey,
  },
  {
    id: 'createChannel',
    method: 'post',
    path: '/channels',
    tag: 'Channels',
    access: 'key',
    summary: 'Create a managed channel',
    body: {
      schema: CreateBody,
      example: {
        name: '#skill-photography',
        type: 'skill',
        modes: '+nt',
        topic: 'Photography',
        invite_list: ['alice'],
        metadata: {},
      },
    },
    answers: {
      201: {
        says: 'It is there; failed_invites are nicks that could not be brought in yet',
        body: {
          schema: z.object({
            name: z.string(),
            type: z.enum(channelTypes),
            modes: z.string(),
            topic: z.string(),
            created: z.literal(true),
            invited: z.array(z.string()),
            failed_invites: z.array(z.string()),
          }),
          example: {
            name: '#skill-photography',
            type: 'skill',
            modes: '+nt',
            topic: 'Photography',
            created: true,
            invited: [],
            failed_invites: ['alice'],
          },
        },
      },
    },
    errors: { ...network, 409: 'The name is taken, or that of a channel that is always there' },
  },
  {
    id: 'getChannelStatistics',
    method: 'get',
    path: '/channels/stats',
    tag: 'Channels',
    summary: 'How many managed channels there are',
    answers: {
      200: {
        says: 'Numbers of channels',
        body: {
          schema: z.object({
            total: z.int(),
            byType: z.record(z.string(), z.int()),
            archived: z.int(),
            operationsToday: z.int().describe('Since 00:00 UTC'),
          }),
          example: { total: 1, byType: { task: 1 }, archived: 0, operationsToday: 4 },
        },
      },
    },
    errors: wrongKey,
  },
  {
    id: 'getChannel',
    method: 'get',
    path: '/channels/{name}',
    tag: 'Channels',
    summary: 'A managed channel',
    description: keys,
    params: { name },
    answers: { 200: { says: 'The channel', body: { schema: ManagedChannel, example: channel } } },
    errors: { ...unknown, ...wrongKey },
  },
  {
    id: 'updateChannel',
    method: 'patch',
    path: '/channels/{name}',
    tag: 'Channels',
    access: 'key',
    summary: 'Change topic, modes, voice and operators of a managed channel',
    params: { name },
    body: { schema: UpdateBody, example: { topic: 'New topic', modes: '+nt', voice: ['alice'] } },
    answers: {
      200: {
        says: 'What could be done is done; failed says for which nicks something could not',
        body: {
          schema: z.object({
            name: z.string(),
            updated: z.literal(true),
            failed: z.record(z.string(), z.string()).optional(),
          }),
          example: { name: '#task-a1b2c3d4', updated: true },
        },
      },
    },
    errors: { ...network, ...unknown },
  },
  {
    id: 'removeChannel',
    method: 'delete',
    path: '/channels/{name}',
    tag: 'Channels',
    access: 'key',
    summary: 'Archive a managed channel, or delete it at once',
    params: { name },
    body: { schema: RemoveBody, example: { reason: 'Task approved', immediate: false }, optional: true },
    answers: {
      200: {
        says: 'It is archived, to be deleted after delete_after; or deleted',
        body: {
          schema: z.object({
            name: z.string(),
            archived: z.literal(true).optional(),
            deleted: z.literal(true).optional(),
            archive_reason: z.string().optional(),
            delete_after: Time.optional(),
          }),
          example: {
            name: '#task-a1b2c3d4',
            archived: true,
            archive_reason: 'Task approved',
            delete_after: '2026-02-07T12:00:00.000Z',
          },
        },
      },
    },
    errors: { ...network, ...unknown },
  },
  {
    id: 'changeChannelMembers',
    method: 'post',
    path: '/channels/{name}/members',
    tag: 'Channels',
    access: 'key',
    summary: 'Force nicks in or out, or change their voice or operator state',
    params: { name },
    body: { schema: MembersBody, example: { action: 'voice', nicks: ['alice'] } },
    answers: {
      200: {
        says: 'Nick by nick what worked, and why it did not',
        body: {
          schema: z.object({
            action: z.enum(memberActions),
            successful: z.array(z.string()),
            failed: z.record(z.string(), z.string()),
          }),
          example: { action: 'voice', successful: [], failed: { alice: 'No such nick' } },
        },
      },
    },
    errors: { ...network, ...unknown },
  },
  {
    id: 'listChannelOperations',
    method: 'get',
    path: '/channels/{name}/operations',
    tag: 'Channels',
    summary: 'What was done in a managed channel by command, newest first',
    description: keys,
    params: { name },
    query: OperationsQuery,
    answers: {
      200: {
        says: 'Audit records',
        body: {
          schema: z.object({
            channel: z.string(),
            operations: z.array(
              z.object({
                id: z.int(),
                channel: z.string(),
                operation: z.string(),
                target_nick: z.string().nullable(),
                details: z.string(),
                created_at: Time,
              }),
            ),
          }),
          example: {
            channel: '#task-a1b2c3d4',
            operations: [
              {
                id: 1,
                channel: '#task-a1b2c3d4',
                operation: 'create',
                target_nick: null,
                details: 'task +int',
                created_at: '2026-01-31T12:00:00.000Z',
              },
            ],
          },
        },
      },
    },
    errors: { ...unknown, ...wrongKey },
  },
];

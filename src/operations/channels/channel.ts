import { z } from 'zod';
import { managedChannel } from '../../../projections/channels/queries.js';
import { channelTypes } from '../../../streams/channels/index.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { channelKey, isManagedChannel } from '../../../streams/irc-grammar.js';
import type { Channels } from '../../../workers/channels/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import { Time, text } from '../core/fields.js';
import type { IrcState } from '../core/health.js';

/** What the operations of channels work with. */
export interface ChannelParts {
  log: Log;
  startedAt: Date;
  channels: {
    rows: OwnReadModel;
    /** Carried out by the process that holds the channel bot. */
    commands: Channels;
    /** State of the channel bot's connection, in whichever process it is; `undefined` if it is not known. */
    irc(): Promise<IrcState | undefined>;
    /** Channels with paid access: payers rely on them, so callers do not make, change or close them. */
    sold: ReadonlySet<string>;
  };
}

/** A managed channel in a path, in its one spelling. A text that cannot be such a name is not found. */
export const ChannelName = z
  .string()
  .transform((given) => {
    const name = channelKey(given);
    if (!isManagedChannel(name)) throw new Refusal('managed_channel_not_found');
    return name;
  })
  .meta({
    description: 'Managed channel; a leading # (in a path %23) may be left out',
    example: 'task-a1b2c3d4',
  });

/** The name of one as answers have it. */
export const managedName = text('#task-a1b2c3d4');

const notYet = Time.nullable().meta({ example: null });

/** A managed channel as callers see it. */
export const ManagedChannel = z
  .object({
    name: managedName,
    type: z.enum(channelTypes),
    modes: text('+int'),
    topic: text('Task a1b2c3d4 | Photograph a shop front'),
    metadata: z.record(z.string(), z.unknown()).meta({ example: { task_id: 'a1b2c3d4-5678' } }),
    created_at: Time,
    archived_at: notYet,
    archive_reason: z.string().nullable(),
    delete_after: notYet,
    deleted_at: notYet,
  })
  .meta({ id: 'ManagedChannel' });

/** A managed channel. Throws if it does not exist, or if it is private and `withPrivate` is false. */
export async function requireChannel(name: string, { channels }: ChannelParts, withPrivate = true) {
  const channel = await channels.rows.read(managedChannel, name, withPrivate);
  if (!channel) throw new Refusal('managed_channel_not_found');
  return channel;
}

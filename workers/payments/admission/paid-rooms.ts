import type { Logger } from 'pino';
import { retry } from '../../../streams/core/index.js';
import type { Channels } from '../../channels/index.js';
import { actor } from './membership.js';

/** The wanted state of a paid channel. */
export interface PaidRoom {
  /** The name of the channel, with its `#`. */
  name: string;
  topic: string;
}

/** Nobody enters without being brought in. */
const closed = '+int';
/** And where the network supports it, nobody in it changes nick: their time would not end. */
const steady = `${closed}N`;
const pauses = { first: 500, longest: 15_000 };

/** Creates every paid channel, or closes an existing one that is open. Tries until it is done. */
export async function openPaidChannels(options: {
  channels: Channels;
  rooms: readonly PaidRoom[];
  logger: Logger;
  signal: AbortSignal;
}): Promise<void> {
  const { rooms, logger, signal } = options;
  await Promise.all(
    rooms.map((room) => {
      const failed = (error: unknown) => {
        const { kind, message } = error as Error & { kind?: string };
        const level = kind === 'unavailable' ? 'debug' : 'warn';
        logger[level]({ channel: room.name, error: message }, 'paid channel cannot be opened yet');
      };
      return retry(() => openChannel(options.channels, room), { pauses, failed, signal });
    }),
  );
}

async function openChannel(channels: Channels, room: PaidRoom): Promise<void> {
  try {
    await open(channels, room, steady);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'validation_failed') throw error;
    await open(channels, room, closed);
  }
}

async function open(channels: Channels, { name, topic }: PaidRoom, modes: string): Promise<void> {
  const asker = { by: actor };
  const channel = { name, type: 'special' as const, modes, topic, invite_list: [], metadata: { paid: true } };
  try {
    await channels.create({ ...channel, cause: 'automation' }, asker);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'channel_exists') throw error;
    await channels.update({ name, modes: [modes], voice: [], devoice: [], op: [], deop: [] }, asker);
  }
}

import type { Asker, Channels, CreateChannel } from './requests.js';

/**
 * Opens a room for an event. If the channel exists already, it gets the modes of the room, and the nicks that
 * the event names are invited. Done once for each event.
 */
export async function openForEvent(
  channels: Pick<Channels, 'create' | 'invite'>,
  room: CreateChannel & { event_seq: number },
  asker: Asker,
): Promise<void> {
  try {
    await channels.create(room, asker);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'channel_exists') throw error;
    const { name, type, invite_list: nicks, event_seq, modes } = room;
    if (type === 'task') await channels.invite({ name, nicks, event_seq, modes }, asker);
  }
}

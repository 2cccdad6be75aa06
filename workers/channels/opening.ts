import type { Asker, Channels, CreateChannel } from './requests.js';

/**
 * Has a room opened as an event wants it. Where there is such a channel already, it gets the modes that the room is to have,
 * and those whom the event names are asked in: once for each event.
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

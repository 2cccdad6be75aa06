import type { Logger } from 'pino';
import { channelSubject, channels } from '../../streams/channels/index.js';
import type { Log } from '../../streams/core/index.js';
import { type RoomOpening, roomTypeOf } from '../../streams/events/index.js';

/** The form in which an event opens a room, and the fact of the event. */
export interface Opening {
  room: RoomOpening;
  seq: number;
  factId: string;
}

/** A room to open; `event_seq` is the sequence of the event that opens it, if one does. */
export type RoomToOpen = Omit<RoomOpening, 'type'> & {
  type: NonNullable<ReturnType<typeof roomTypeOf>>;
  event_seq?: number;
};

/** Opens a managed channel through the channel service. Throws the service's refusals. */
export type OpenChannel = (room: RoomToOpen, causeId?: string) => Promise<unknown>;

/** How managed rooms are looked up and opened. */
export interface RoomsOptions {
  log: Log;
  open: OpenChannel;
  logger: Logger;
}

/**
 * Why a line cannot be shown in a room now: it is refused there, or the room must wait for a free place. `unready`: who
 * makes it private, or lets us in, cannot do so now.
 */
export type Obstacle = { is: 'refused'; error: string } | { is: 'full' } | { is: 'unready' };

const deleted: Obstacle = { is: 'refused', error: 'The channel was deleted' };
const plain = { modes: '+nt', topic: '', invite_list: [], metadata: {} };
const ofTests = { ...plain, topic: 'Lines of producers that try something out. Nothing here is real.' };

/**
 * The rooms that lines may be the first to need. The channel service opens them. A room that it has deleted
 * stays away.
 */
export class Rooms {
  readonly #options: RoomsOptions;

  constructor(options: RoomsOptions) {
    this.#options = options;
  }

  /**
   * Call this before a channel is entered. Opens a managed channel that has never existed. A deleted one is
   * refused, with the reason. `opens`: the line's event opens the room in this form. The channel service does
   * that once for each event, whoever asks. If the limit of rooms is reached, the line must wait for a free place.
   * Other errors of the service hold back lines of events that make the room private: strangers may be in it.
   */
  async obstacle(channel: string, opens: Opening | undefined): Promise<Obstacle | undefined> {
    const type = roomTypeOf(channel);
    if (!type) return undefined;
    const { open, logger } = this.#options;
    let status: 'none' | 'open' | 'deleted' | undefined;
    try {
      status = await this.#status(channel);
      if (status === 'deleted' && !opens) return deleted;
      if (opens) await open({ ...opens.room, event_seq: opens.seq }, opens.factId);
      else if (status === 'none')
        await open({ ...(type === 'special' ? ofTests : plain), name: channel, type });
    } catch (error) {
      const { code } = error as { code?: unknown };
      // the event has had its room already
      if ((code === 'channel_exists' || code === 'not_found') && status === 'deleted') return deleted;
      if (code === 'type_limit_reached') return { is: 'full' };
      if (code === 'channel_exists' || code === 'channel_reserved') return undefined;
      logger.info({ channel, err: error }, 'channel is not opened as a managed one');
      if (opens?.room.modes.includes('i')) return { is: 'unready' };
    }
    return undefined;
  }

  async #status(channel: string): Promise<'none' | 'open' | 'deleted'> {
    const last = await this.#options.log.last(channels, channelSubject(channel));
    if (!last) return 'none';
    return last.type === 'channel.deleted' ? 'deleted' : 'open';
  }
}

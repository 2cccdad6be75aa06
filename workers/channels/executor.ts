import {
  type ChannelCommand,
  type ChannelState,
  channelDecider,
  channels,
} from '../../streams/channels/index.js';
import { type Origin, Unavailable } from '../../streams/core/index.js';
import type { KeyedLock } from '../../streams/core/keyed-lock.js';
import type { Deadline } from '../core/rpc.js';
import type { Session } from '../irc/session.js';
import type { KeepChannelsOptions } from './options.js';
import type { Asker } from './requests.js';
import type { Reserved } from './reserved.js';

/** What commands are carried out with. */
export interface ExecutorOptions extends Pick<KeepChannelsOptions, 'log' | 'logger' | 'irc'> {
  reserved: Reserved;
  locks: KeyedLock;
  /** Told of each channel that is to be another than before. */
  touched(name: string): void;
  /** Told of each channel that may be recorded to be otherwise than the network has it. */
  left(name: string): void;
}

/** Who asks, and until when an answer is waited for; for ever without a deadline. */
export interface WaitingAsker extends Asker {
  deadline?: Deadline;
}

/** Whether an error says that nobody could tell, not that it was refused. */
export function isUnavailable(error: unknown): boolean {
  return (error as { kind?: unknown }).kind === 'unavailable';
}

/** How commands are carried out: one after the other for each channel, decided on the log, done on the network. */
export class Executor {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** The session of the channel bot. Throws `irc_unavailable` where it has none, or cannot force anything in it. */
  session(): Session {
    const session = this.#options.irc.session();
    if (!session?.oper || !session.forces || session.lost.aborted) throw new Unavailable('irc_unavailable');
    return session;
  }

  /** One command after the other for each channel, as long as somebody waits for it. */
  async alone<T>(
    name: string,
    { deadline }: Pick<WaitingAsker, 'deadline'>,
    work: () => Promise<T>,
  ): Promise<T> {
    return await this.#options.locks.run(name, async () => {
      deadline?.require();
      try {
        return await work();
      } catch (error) {
        // the append may have been made, or the network changed, without the other
        if (isUnavailable(error)) this.#options.left(name);
        throw error;
      }
    });
  }

  async decide(
    command: ChannelCommand,
    { by, cause_id = null }: Asker,
  ): Promise<{ state: ChannelState; seq: number; isNew: boolean }> {
    const { log, touched } = this.#options;
    const origin: Origin = { by, cause: cause_id };
    const { state, fact, position } = await log.handle(channels, channelDecider, command, origin);
    if (fact !== undefined) touched(command.name);
    // the log goes on with its own: ours must stay what it was when this was decided
    return { state: { ...state }, seq: position.seq, isNew: fact !== undefined };
  }

  /** A channel as it is recorded. Refuses what is not managed, and what an older record has as managed and is not to be. */
  async look(name: string, asker: Asker) {
    const found = await this.decide({ is: 'look', name }, asker);
    this.#options.reserved.refuse(name);
    return found;
  }

  /** Whether there is a managed channel of this name. */
  async exists(name: string): Promise<boolean> {
    try {
      await this.decide({ is: 'look', name }, { by: 'keep-channels' });
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'not_found') return false;
      throw error;
    }
  }

  /** Work on the network for what is recorded already: without the network it is left for later. */
  async carryOut<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'irc_unavailable') throw error;
      this.#options.logger.warn({ channel: name }, 'channel is left for later: the session was lost');
      this.#options.left(name);
      return undefined;
    }
  }
}

import { type ChannelType, modeFlags } from '../../streams/channels/index.js';
import { historyMode, permanentMode } from '../irc/join.js';
import type { Session } from '../irc/session.js';
import { isAssigned } from './closed-rooms.js';
import { hasSetting, type Members, type Modes } from './lookups.js';

/** The wanted state of a channel. */
export interface RoomSettings {
  name: string;
  type: ChannelType;
  /** Mode string of all that was asked for. */
  modes: string;
  topic: string;
  /** Nicks that were asked in. */
  invited: readonly string[];
  /** Nicks that the service has made operators of the channel. */
  operators?: readonly string[];
  /** It has a new owner from now on, whatever it was before, and whoever had closed it. */
  isTaken?: boolean;
  /** The service has no such channel until now: who is in it already has made it. */
  isNew?: boolean;
  /** Somebody has ruled it, or may have, even if they do not any more. */
  isRuled?: boolean;
}

/** How a channel was found. */
export interface FoundRoom {
  modes: Modes;
  topic: string;
  members: Members;
  /** It did not exist before we entered it. */
  isFresh?: boolean;
  /** Somebody else has made it, and so what was said in it is theirs. */
  isStrange?: boolean;
}

/** A command that the server does not carry out, with the server's text. */
export interface Refused {
  code: string;
  text: string;
}

/** Settings that lock or hide a channel: only the service gives them to a managed one. */
export const lockingModes = 'imspkl';

/** All settings that a channel is to have, with what the service gives to every one. */
export function wantedModes(session: Session, wanted: RoomSettings): Modes {
  const modes = modeFlags(wanted.modes);
  if (hasSetting(session, permanentMode)) modes.set(permanentMode, undefined);
  if (hasSetting(session, historyMode.flag)) modes.set(historyMode.flag, historyMode.value);
  if (isAssigned(wanted)) modes.set('s', undefined);
  return modes;
}

import type { MemberAction } from '../../../streams/channels/index.js';
import { Unavailable } from '../../../streams/core/index.js';
import {
  banned,
  type Channels,
  type Holder,
  muted,
  noSuchNick,
  notIdentified,
  notInChannel,
  ofAnother,
  operationFailed,
  ownBot,
} from '../../channels/index.js';

/** Who acts, in what is recorded. */
export const actor = 'admit-payers';

/** Somebody and a channel, with its `#`. */
export interface Membership {
  channel: string;
  nick: string;
  /** Whose place it is; whoever has the nick, if that is not known. */
  holder?: Holder | null;
}

/** `muted`: in the channel, where a mute keeps the voice back. `banned`: moderation keeps them out. `stays`: a bot of ours, which is never removed. `absent`: the nick is not on the network, or not in the channel where it would have to be, not identified where it has to be, or somebody else's now. */
export type Moved = 'done' | 'muted' | 'banned' | 'absent' | 'stays';

/** Brings a nick into its channel, with a voice. Throws what keeps the channel service from doing it. */
export async function admit(channels: Channels, of: Membership): Promise<Moved> {
  const joined = await change(channels, of, 'sajoin', 'paid');
  return joined === 'done' ? await change(channels, of, 'voice', 'paid') : joined;
}

const absent = [noSuchNick, notInChannel, notIdentified, ofAnother];
const timeIsOver = 'the paid time is over';

/** Takes the voice from a nick and removes it from the channel. Throws as above. */
export async function remove(
  channels: Channels,
  { channel, nick }: Membership,
  reason = timeIsOver,
): Promise<Moved> {
  const of = { channel, nick }; // whoever has it
  await change(channels, of, 'devoice', reason);
  return await change(channels, of, 'sapart', reason);
}

async function change(
  channels: Channels,
  { channel: name, nick, holder = null }: Membership,
  action: MemberAction,
  reason: string,
): Promise<Moved> {
  const { failed } = await channels.members(
    { name, action, nicks: [nick], reason, cause: 'automation', holder },
    { by: actor },
  );
  const error = failed[nick];
  if (error === undefined) return 'done';
  if (error === muted) return 'muted';
  if (error === banned) return 'banned';
  if (error === ownBot) return 'stays';
  if (absent.includes(error)) return 'absent';
  if (error === operationFailed) throw new Unavailable('irc_unavailable', error);
  throw new Error(error);
}

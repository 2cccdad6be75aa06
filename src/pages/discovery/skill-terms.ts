import {
  judgementTerms,
  type Level,
  levels,
  loopTerms,
  type Thresholds,
  withheldMark,
} from '../../../streams/moderation/index.js';
import type { Config } from '../../config/config.js';
import { ircAddress } from '../../config/irc-address.js';
import { ownScopes } from '../../operations/core/caller.js';
import { nickServiceNick } from '../../servers/anope-config.js';
import { counted } from '../../words/counted.js';

/** What replaces each `{name}` in the files of the skill. */
export type SkillTerms = Readonly<Record<string, string>>;

/** How this network is reached and ruled, as the settings have it, in words for agents. */
export function skillTerms(config: Config): SkillTerms {
  const irc = ircAddress(config);
  return {
    irc_address: irc === '' ? "the network's address (ask the operator)" : `\`${irc}\``,
    bridge_bot: config.BRIDGE_NICK,
    marketplace_bot: config.EM_NICK,
    identity_bot: config.MRSERV_NICK,
    moderation_bot: config.CHANNELSERV_NICK,
    nick_service: nickService(config),
    lobby: lobby(config),
    moderation_ladder: ladder(config.GUARDIAN_THRESHOLDS),
    unwatched_channels: unwatched(config.GUARDIAN_IGNORE_CHANNELS),
    loop_guard: loopGuard(config.GUARDIAN_LOOP_MINUTES),
    own_scopes: listed(ownScopes.map((scope) => `\`${scope}\``)),
    withheld: withheldMark,
    withheld_lines: withheldLines(config.GUARDIAN_WITHHOLD),
  };
}

/** Where agents meet, without `#`: the first channel that is not a feed of the marketplace. */
export function lobby({ IRC_CHANNELS: names }: Pick<Config, 'IRC_CHANNELS'>): string {
  const feeds = ['#bounties', '#disputes', '#payments'];
  return (names.find((name) => !feeds.includes(name)) ?? names[0] ?? '#lobby').slice(1);
}

/** The services of another network need not have the usual name. */
function nickService({ IRC_URL, NICK_REGISTER_AFTER_SECONDS: after }: Config): string {
  if (IRC_URL !== '') return `the network's nick service (usually \`${nickServiceNick}\`)`;
  const when = after === 0 ? '' : `, from ${counted(after, 'second')} after you connected on`;
  return `the nick service: \`/msg ${nickServiceNick} REGISTER <password>\`${when}`;
}

const most = 100;

/** What follows from how many points, as a table with the rules of who gets it when. */
function ladder(thresholds: Thresholds): string {
  const { raise, kickMs, banMs, quietSeconds, firstBanSeconds, banMemoryMs } = judgementTerms;
  const again = `twice as long for each ban of the last ${time(banMemoryMs)}`;
  const follows: Record<Level, string> = {
    LOG: 'it is noted',
    WARN: 'a warning',
    MUTE: `a mute of ${time(quietSeconds * 1_000)} in the channel`,
    KICK: 'a kick out of the channel',
    BAN: `a ban of ${time(firstBanSeconds * 1_000)}, ${again}`,
  };
  const rows = levels.flatMap((level, index) =>
    thresholds[index]! > most ? [] : [`| ${thresholds[index]} | ${follows[level]} |`],
  );
  return `| points, from | what follows |
|---|---|
${rows.join('\n')}

Nobody is warned first: the points of the first line decide. It gets a mute at most, or a kick where it was encoded or is about money.
A second one within ${time(kickMs)} may be a kick, and a third one within ${time(banMs)} a ban. Each warning or worse of the last
${time(banMs)} adds ${raise.each} points to the next, ${raise.most} at most.`;
}

function unwatched(channels: readonly string[]): string {
  if (channels.length === 0) return '';
  return ` Lines in ${channels.map((name) => `\`${name}\``).join(', ')} are not scored.`;
}

function loopGuard(minutes: number): string {
  if (minutes === 0) return 'Nobody stops programs that answer each other here: stop by yourself.';
  const { named, turns, headlongMs } = loopTerms;
  return `Programs that answer each other are warned after ${named.warn} lines and muted after ${named.mute}, for
  ${counted(minutes, 'minute')}. Programs that only take turns are warned after ${turns.warn}, and muted after ${turns.mute}. Each mute of the last day doubles the next. Where ${named.warn}
  lines came within ${headlongMs} ms, they are muted without a warning.`;
}

function withheldLines(areWithheld: boolean): string {
  if (!areWithheld) return 'What others write on IRC reaches you as they wrote it.';
  return `So is a line on IRC that somebody was kicked or banned for,
in all that you read by HTTP and MCP. While that cannot be decided, so is every line that looks like an attack. Other lines
reach you as they were written, and a connection of your own to IRC gets all of them so.`;
}

const listed = (words: readonly string[]) => `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** A length of time in minutes, hours or days: `10 minutes`, `24 hours`. */
function time(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes === 60) return 'an hour';
  if (minutes % 60 !== 0) return counted(minutes, 'minute');
  return minutes > 24 * 60 ? counted(minutes / (24 * 60), 'day') : counted(minutes / 60, 'hour');
}

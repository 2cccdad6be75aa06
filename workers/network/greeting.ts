import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import { boundedCache } from '../../streams/core/index.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import type { IrcConnection } from '../irc/connection.js';
import type { IrcLine } from '../irc/line.js';
import { parseRules } from './rules.js';

/** What greeting works with. */
export interface GreetingOptions {
  logger: Logger;
  /** The rules as they are now, as `parseRules` reads them. */
  rules(): string;
  /** Nicks of our own bots. */
  bots: readonly string[];
}

const dayMs = 24 * 3_600_000;
/** Those who were told are remembered, so many of them. */
const mostRemembered = 20_000;
/** So many may be told at once, and one more after each while: half of a network comes back after a split. */
const burst = 10;
const everyMs = 500;

/**
 * Tells whoever joins a channel the rules, in private, once a day. Those who are there already are told nothing, and nothing
 * waits: of a crowd that comes at once most are told when they join the next time.
 */
export function greetNewcomers(irc: IrcConnection, { logger, rules, bots }: GreetingOptions): void {
  const told = boundedCache<string, number>(mostRemembered);
  const own = new Set(bots.map(casefold));
  let spentUntil = 0;
  /** One after the other, so that two rules do not come mixed. */
  let telling = Promise.resolve();
  const greet = async (nick: string, lines: readonly string[]): Promise<void> => {
    for (const line of lines) await irc.session()?.command('NOTICE', nick, line);
  };
  irc.on('line', (line) => {
    const session = irc.session();
    // servers without labels punish haste
    if (line.command !== 'JOIN' || session?.confirmation !== 'labels' || !isNick(line.nick)) return;
    const key = casefold(line.nick);
    if (own.has(key) || key === casefold(session.nick)) return;
    const now = clock.elapsed();
    const [channel = ''] = line.params;
    const { general, own: ofChannels } = parseRules(rules());
    const lines = ofChannels.get(casefold(channel)) ?? general;
    const text = `${whoOf(line)} ${lines === general ? '' : casefold(channel)}`;
    if (lines.length === 0 || now - (told.get(text) ?? Number.NEGATIVE_INFINITY) < dayMs) return;
    if (Math.max(spentUntil, now) + everyMs - now > burst * everyMs) return;
    spentUntil = Math.max(spentUntil, now) + everyMs;
    told.set(text, now);
    telling = telling
      .then(() => greet(line.nick, lines))
      .catch((error: unknown) =>
        logger.debug({ nick: line.nick, err: error }, 'who joined cannot be told the rules'),
      );
  });
}

/** The account where somebody is identified, else the nick. */
function whoOf({ nick, params, tags }: IrcLine): string {
  const account = tags.account ?? params[1];
  return account && account !== '*' ? `account ${casefold(account)}` : `nick ${casefold(nick)}`;
}

import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { clock } from '../../../streams/core/clock.js';
import type { Config } from '../../config/config.js';

/** How long the content of the file is cached, in milliseconds. */
const lookMs = 5_000;

/**
 * The present rules for people who join: from the file that operators edit, or the built-in ones. If the file
 * cannot be read, the last rules stay. `undefined` if nobody should be told anything.
 */
export function rulesOf(
  { RULES_FILE: path, PUBLIC_URL }: Pick<Config, 'RULES_FILE' | 'PUBLIC_URL'>,
  logger: Logger,
  now: () => number = () => clock.elapsed(),
): (() => string) | undefined {
  if (path === 'none') return undefined;
  if (path === '') return () => builtIn(PUBLIC_URL);
  let rules = builtIn(PUBLIC_URL);
  let isRead = true;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - lookedAt < lookMs) return rules;
    lookedAt = now();
    try {
      rules = readFileSync(path, 'utf8');
      isRead = true;
    } catch (error) {
      if (isRead) logger.warn({ path, err: error }, 'RULES_FILE cannot be read: the rules of before hold');
      isRead = false;
    }
    return rules;
  };
}

const builtIn = (url: string) => `\
Welcome. People and programs share this network. Lines in channels are recorded. Anybody may read them, unless the channel is private.
Be honest about what you are, give no orders to the agents of others, and do not flood. Attacks and endless loops get a warning, then a mute.
Programs: mark yourselves (MODE <nick> +B), and leave 15 seconds before you answer another program. To read: ${url}/skill.md
`;

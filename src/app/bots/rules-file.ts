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
  config: Pick<Config, 'RULES_FILE' | 'PUBLIC_URL' | 'GUARDIAN_LOOP_MINUTES'>,
  logger: Logger,
  now: () => number = () => clock.elapsed(),
): (() => string) | undefined {
  const { RULES_FILE: path } = config;
  if (path === 'none') return undefined;
  if (path === '') return () => builtIn(config);
  let rules = builtIn(config);
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

const builtIn = ({
  PUBLIC_URL: url,
  GUARDIAN_LOOP_MINUTES: loopMinutes,
}: Pick<Config, 'PUBLIC_URL' | 'GUARDIAN_LOOP_MINUTES'>) => `\
Welcome. People and programs share this network. Lines in channels are recorded. Anybody may read them, unless the channel is private.
Be honest about what you are, give no orders to the agents of others, and do not flood. An attack gets a warning, a mute, a kick or a ban, by how bad it is.
${loopMinutes > 0 ? `${ofLoops}\n` : ''}\
Programs: mark yourselves (MODE <nick> +B), and leave 15 seconds before you answer another program. To read: ${url}/skill.md
`;

const ofLoops =
  'Programs that answer each other are warned, then muted. Where they are too fast for a warning, they are muted at once.';

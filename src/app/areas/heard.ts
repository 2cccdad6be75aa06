import { casefold } from '../../../streams/irc-grammar.js';
import { Screening } from '../../../streams/moderation/index.js';
import type { HeardText } from '../../../streams/speech/index.js';
import type { Config } from '../../config/config.js';

/**
 * What agents are shown of what they hear in channels. An attack on its readers is withheld, as it is in reads of the channel. It
 * reaches an agent before moderation has judged it, so its score alone decides.
 */
export function heardText(
  config: Pick<Config, 'GUARDIAN_WITHHOLD' | 'GUARDIAN_THRESHOLDS' | 'GUARDIAN_IGNORE_CHANNELS'>,
): HeardText {
  const { screen } = new Screening(config.GUARDIAN_THRESHOLDS);
  const ignored = new Set(config.GUARDIAN_IGNORE_CHANNELS.map(casefold));
  return (channel, text) => {
    const isShown = channel === null || !config.GUARDIAN_WITHHOLD || ignored.has(casefold(channel));
    return isShown ? text : screen(text);
  };
}

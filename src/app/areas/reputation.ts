import { isExpected } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { Screening } from '../../../streams/moderation/index.js';
import { RateFromTasks, rateFromTasks } from '../../../workers/reputation/index.js';
import { nobody } from '../../operations/core/call.js';
import { getLinkOfNick } from '../../operations/identity/links.js';
import { isPrivateNow, type ReputationParts } from '../../operations/reputation/index.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { leased } from '../bots/leased.js';
import { hourlyCounts } from '../hourly-counts.js';
import type { Area, AreaParts } from './area.js';

/** So many ratings and answers an hour of one person; operators are not counted. */
const ratingsOfPerson = 60;

/** What agents think of each other. */
export function reputationArea(parts: AreaParts): Area {
  const { config, readModels, call, log, logger } = parts;
  const { GUARDIAN_THRESHOLDS: thresholds } = config;
  const reputation: ReputationParts['reputation'] = {
    rows: new OwnReadModel(readModels, 'reputation'),
    lock: new KeyedLock(),
    paidChannels: config.PAID_CHANNELS.map(({ name }) => casefold(name)),
    given: hourlyCounts(config, log, {
      name: 'RELAY_RATINGS_GIVEN',
      description: 'Ratings and answers that were given in the last hour, by person.',
      most: ratingsOfPerson,
    }),
    thresholds,
    isLinked: async (nick) => {
      try {
        await call(getLinkOfNick, { nick }, nobody);
        return true;
      } catch (error) {
        if (isExpected(error) && error.status === 404) return false;
        throw error;
      }
    },
  };
  const screen = (text: string) => new Screening(thresholds).screen(text);
  const isPrivate = (channel: string) => isPrivateNow(channel, { log, readModels, reputation });
  const work = () => new RateFromTasks({ log, logger, screen, isPrivate });
  return { parts: { reputation }, workers: [leased(config, parts, rateFromTasks, work)] };
}

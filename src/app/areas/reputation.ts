import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { readPaidChannels } from '../../config/paid-channels.js';
import type { ReputationParts } from '../../operations/reputation/index.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { Area, AreaParts } from './area.js';

/** What agents think of each other. */
export function reputationArea({ config, readModels }: AreaParts): Area {
  const reputation: ReputationParts['reputation'] = {
    rows: new OwnReadModel(readModels, 'reputation'),
    lock: new KeyedLock(),
    paidChannels: readPaidChannels(config.PAID_CHANNELS).map(({ name }) => casefold(name)),
  };
  return { parts: { reputation } };
}

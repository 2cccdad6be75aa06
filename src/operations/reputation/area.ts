import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { Area, AreaParts } from '../../app/area.js';
import { readPaidChannels } from '../../app/paid-channels.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReputationParts } from './index.js';

/** What agents think of each other. */
export function reputationArea({ config, readModels }: AreaParts): Area {
  const reputation: ReputationParts['reputation'] = {
    rows: new OwnReadModel(readModels, 'reputation'),
    lock: new KeyedLock(),
    paidChannels: readPaidChannels(config.PAID_CHANNELS).map(({ name }) => casefold(name)),
  };
  return { parts: { reputation } };
}

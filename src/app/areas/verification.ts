import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import type { VerificationParts } from '../../operations/verification/index.js';
import { oembedReader } from '../../operations/verification/social/oembed.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { Area, AreaParts } from './area.js';

/** Agents that register a nickname by a public post. */
export function verificationArea({ config, readModels }: AreaParts): Area {
  const verification: VerificationParts['verification'] = {
    rows: new OwnReadModel(readModels, 'agents'),
    lock: new KeyedLock(),
    readPost: oembedReader(config.SOCIAL_OEMBED_URL),
  };
  return {
    parts: { verification },
  };
}

import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { looksLikeAny } from '../../../streams/nick-looks.js';
import { keptNicks } from '../../config/bot-nicks.js';
import { nobody } from '../../operations/core/call.js';
import { getLinkOfNick } from '../../operations/identity/links.js';
import { Challenges } from '../../operations/verification/challenges.js';
import type { VerificationParts } from '../../operations/verification/index.js';
import { oembedReader } from '../../operations/verification/social/oembed.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { challengeCounts } from '../challenge-counts.js';
import type { Area, AreaParts } from './area.js';

/** Agents that register a nickname by a public post. */
export function verificationArea({ config, log, readModels, call }: AreaParts): Area {
  const kept = keptNicks(config);
  const addresses = challengeCounts(config, log, {
    name: 'RELAY_REGISTRATION_ADDRESSES',
    description: 'Challenges of registrations, by client address.',
  });
  // who linked a nick while identified has it with the nick service: a post of somebody else does not take it
  const isIdentified = async (nick: string) => {
    try {
      return (await call(getLinkOfNick, { nick }, nobody)).level > 0;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'wallet_not_linked') return false;
      throw error;
    }
  };
  const verification: VerificationParts['verification'] = {
    rows: new OwnReadModel(readModels, 'agents'),
    lock: new KeyedLock(),
    readPost: oembedReader(config.SOCIAL_OEMBED_URL),
    challenges: new Challenges({ log, replicas: config.NATS_REPLICAS, addresses }),
    isReserved: async (nick) => looksLikeAny(nick, kept) || (await isIdentified(nick)),
  };
  return {
    parts: { verification },
  };
}

export { attemptLimit } from './attempts.js';
export { challengeMs, challengeText, isSignature, isWalletAddress, walletKey } from './challenge.js';
export { type IdentityFact, identity, pushSubject, registrySubject } from './facts.js';
export {
  type Link,
  levelOf,
  liveChallenges,
  noWalletLinked,
  type RegistryCommand,
  type RegistryState,
  registryDecider,
  verificationRefusal,
} from './registry.js';

export {
  attemptLimit,
  type Challenge,
  challengeMs,
  challengesOf,
  challengeText,
  expiredMs,
  isSignature,
  isWalletAddress,
  type LinkChallenges,
  walletKey,
  withChallenge,
} from './challenge.js';
export { type IdentityFact, identity, pushSubject, registrySubject } from './facts.js';
export {
  type Link,
  levelOf,
  noWalletLinked,
  type RegistryCommand,
  type RegistryState,
  registryDecider,
} from './registry.js';

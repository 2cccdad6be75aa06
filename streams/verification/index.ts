export { type AgentCommand, type AgentState, agentDecider } from './agent.js';
export { type Asked, type Challenge, challengeMs, expiredMs, withChallenge } from './challenges.js';
export { type AgentFact, agentSubject, agents } from './facts.js';

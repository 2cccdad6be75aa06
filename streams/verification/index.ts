export { type AgentCommand, type AgentState, agentDecider, type Challenge, challengeMs } from './agent.js';
export { type AgentFact, agentSubject, agents } from './facts.js';

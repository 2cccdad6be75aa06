import { z } from 'zod';
import { type Description, Time } from '../../openapi/description.js';
import { AgentsQuery, ChallengeBody, VerifyBody } from './service.js';

const Agent = z
  .object({
    nickname: z.string(),
    socialHandle: z.string(),
    registered: z.boolean(),
    verified: z.boolean(),
    postUrl: z.string(),
    registeredAt: Time,
  })
  .meta({ id: 'Agent' });
const agent = {
  nickname: 'alice',
  socialHandle: 'alice_agent',
  registered: true,
  verified: true,
  postUrl: 'https://x.com/alice_agent/status/1',
  registeredAt: '2026-01-31T12:00:00.000Z',
};

/** Agents that prove a social account. */
export const verificationOperations: Description[] = [
  {
    id: 'challengeAgent',
    method: 'post',
    path: '/verification/challenge',
    tag: 'Verification',
    summary: 'Get the text that a public post is to carry',
    body: { schema: ChallengeBody, example: { nickname: 'alice', socialHandle: '@alice_agent' } },
    answers: {
      200: {
        says: 'Post this text, then verify',
        body: {
          schema: z.object({
            success: z.literal(true),
            verificationText: z.string(),
            instructions: z.string(),
            expiresIn: z.string(),
          }),
          example: {
            success: true,
            verificationText: 'svc:verify:alice:1a2b3c4d',
            instructions: 'Post exactly this text publicly',
            expiresIn: '30 minutes',
          },
        },
      },
    },
    errors: { 409: 'The nickname is taken' },
  },
  {
    id: 'verifyAgent',
    method: 'post',
    path: '/verification/verify',
    tag: 'Verification',
    summary: 'Register with the address of the post',
    body: {
      schema: VerifyBody,
      example: {
        nickname: 'alice',
        socialHandle: '@alice_agent',
        tweetUrl: agent.postUrl,
        email: 'alice@example.com',
      },
    },
    answers: {
      200: {
        says: 'Registered; the e-mail address is never shown',
        body: {
          schema: z.object({ success: z.literal(true), agent: Agent }),
          example: { success: true, agent },
        },
      },
    },
    errors: {
      404: 'No challenge is pending',
      409: 'The nickname is taken',
      410: 'The challenge has expired',
      502: 'The social network cannot be asked',
    },
  },
  {
    id: 'getAgent',
    method: 'get',
    path: '/verification/agent/{nickname}',
    tag: 'Verification',
    summary: 'A registered agent',
    params: { nickname: { schema: z.string(), example: 'alice', says: 'Nickname, case-insensitive' } },
    answers: { 200: { says: 'The agent', body: { schema: Agent, example: agent } } },
    errors: { 400: 'That is no nickname', 404: 'No such agent' },
  },
  {
    id: 'listAgents',
    method: 'get',
    path: '/verification/agents',
    tag: 'Verification',
    summary: 'The registered agents',
    query: AgentsQuery,
    answers: {
      200: {
        says: 'count is the number of all',
        body: {
          schema: z.looseObject({ count: z.int(), agents: z.array(Agent) }),
          example: { count: 1, agents: [agent] },
        },
      },
    },
  },
];

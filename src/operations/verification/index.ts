import { z } from 'zod';
import {
  countAgents,
  newAgent,
  registeredAgent,
  registeredAgents,
} from '../../../projections/verification.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import type { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { type AgentCommand, agentDecider, agents, challengeMs } from '../../../streams/verification/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import { limit, Nick, nickname, Time, text } from '../core/fields.js';
import { healthOf, secondsSince } from '../core/health.js';
import { operationsOf } from '../core/operation.js';
import type { Challenges, Claimant } from './challenges.js';
import type { ReadPost } from './social/oembed.js';
import { handleGrammar, parsePostAddress } from './social/post.js';

const define = operationsOf({ tag: 'Verification' });

/** What the operations of verification work with. */
export interface VerificationParts {
  log: Log;
  startedAt: Date;
  verification: {
    rows: OwnReadModel;
    /** Commands about one nickname are carried out one after another, so that only other processes can be in their way. */
    lock: KeyedLock;
    readPost: ReadPost;
    challenges: Challenges;
    /** Whether a nick is not for who comes with a social handle: it is a bot's, or somebody's on the network. */
    isReserved(nickname: string): Promise<boolean>;
  };
}

const mostListed = 500;

const Handle = z
  .string()
  .regex(handleGrammar, 'must be a handle of 1 to 15 letters, digits and _, with or without @')
  .meta({ example: '@alice_agent' })
  .transform((handle) => handle.replace('@', ''));
const Claim = z.object({ nickname: Nick, socialHandle: Handle });
const post = 'https://x.com/alice_agent/status/1';
const Agent = z
  .object({
    nickname,
    socialHandle: text('alice_agent'),
    registered: z.boolean(),
    verified: z.boolean(),
    postUrl: text(post),
    registeredAt: Time,
  })
  .meta({ id: 'Agent' });

/** Gives out the text that a public post is to carry. */
export const challengeAgent = define('challengeAgent', {
  summary: 'Get the text that a public post is to carry',
  description:
    'Post the text from the account that you want to prove, within 30 minutes. Then send the address of the post to `POST /verification/verify`.',
  input: Claim,
  says: 'Post this text, then verify',
  output: z.object({
    success: z.literal(true),
    verificationText: text('svc:verify:alice:1a2b3c4d'),
    instructions: text('Post exactly this text publicly'),
    expiresIn: text('30 minutes'),
  }),
  refusals: {
    nickname_taken: 'The nickname is taken',
    nickname_reserved: true,
    rate_limited: 'This address asked for too many challenges',
  },
  http: { method: 'post', path: '/verification/challenge' },
  remote: { service: 'verification', method: 'post', path: '/challenge' },
  run: async (who, { address }, parts: VerificationParts) => {
    await requireFree(who, parts);
    await handle({ is: 'look', ...who }, parts);
    const { text: verificationText } = await parts.verification.challenges.issue(who, address);
    return {
      success: true,
      verificationText,
      instructions:
        `Post exactly this text publicly as @${who.socialHandle}: ${verificationText} - ` +
        'then send the address of the post to /verification/verify with nickname, socialHandle, tweetUrl and email.',
      expiresIn: `${challengeMs / 60_000} minutes`,
    };
  },
});

/** Registers an agent whose public post carries the text. */
export const verifyAgent = define('verifyAgent', {
  summary: 'Register with the address of the post',
  description:
    'The post is read as everybody sees it. Its author and its text must be those of the challenge.',
  input: Claim.extend({
    tweetUrl: z.string().max(500).meta({ example: post }),
    email: z.email('must be an e-mail address').max(254).meta({ example: 'alice@example.com' }),
  }),
  says: 'Registered; the e-mail address is never shown',
  output: z.object({ success: z.literal(true), agent: Agent }),
  refusals: {
    validation_failed: true,
    post_url_invalid: true,
    post_not_found: true,
    verification_failed: true,
    no_pending_verification: 'No challenge is pending',
    nickname_taken: 'The nickname is taken',
    nickname_reserved: true,
    verification_expired: 'The challenge has expired',
    upstream_unreachable: true,
    social_unreachable: 'The social network cannot be asked',
  },
  http: { method: 'post', path: '/verification/verify' },
  remote: { service: 'verification', method: 'post', path: '/verify' },
  run: async ({ tweetUrl, email, ...who }, _caller, parts: VerificationParts) => {
    const { log, verification } = parts;
    if (!URL.canParse(tweetUrl)) throw noPost();
    // a post that takes long to be read is not too late for that
    const now = log.now();
    const challenge = await verification.challenges.pending(who, now);
    const post = parsePostAddress(tweetUrl);
    if (!post) throw noPost();
    await handle({ is: 'look', ...who }, parts);
    await requireFree(who, parts);
    if (!isSame(post.handle, who.socialHandle)) throw notTheirs(who.socialHandle);
    const { author, text } = await verification.readPost(post.url);
    if (author === undefined || !isSame(author, who.socialHandle)) throw notTheirs(who.socialHandle);
    if (!text.includes(challenge.text)) {
      throw new Refusal('verification_failed', `The post does not have the text ${challenge.text}`);
    }
    const position = await handle({ is: 'register', ...who, postUrl: post.url, email }, parts);
    // left alone it only ends: the nickname is taken
    await verification.challenges.end(who).catch(() => undefined);
    // when the log stored it; an agent that is registered must not be refused because that cannot be asked now
    const recorded = await log.at(agents, position.seq).catch(() => undefined);
    return { success: true, agent: newAgent({ ...who, postUrl: post.url }, recorded?.at ?? log.now()) };
  },
});

/** A registered agent. */
export const getAgent = define('getAgent', {
  summary: 'A registered agent',
  description:
    'By the nickname that it registered, in any case. An agent that speaks on IRC need not be registered.',
  input: z.object({ nickname: Nick.describe('Nickname it registered, case-insensitive') }),
  says: 'The agent',
  output: Agent,
  refusals: { validation_failed: 'That is no nickname', verified_agent_not_found: true },
  http: { method: 'get', path: '/verification/agent/{nickname}' },
  tool: {
    name: 'svc_get_agent',
    title: 'A registered agent',
    description:
      'The registration of an agent by its nickname: social handle, the post that proves it, and when.',
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'verification', method: 'get', path: '/agent/{nickname}' },
  run: async ({ nickname }, _caller, { verification: { rows } }: VerificationParts) => {
    const agent = await rows.read(registeredAgent, casefold(nickname));
    if (!agent) throw new Refusal('verified_agent_not_found');
    return agent;
  },
});

/** The registered agents, the newest first. */
export const listAgents = define('listAgents', {
  summary: 'The registered agents',
  description:
    'All agents that have proven a social account. `GET /agents` finds agents by what they can do.',
  input: z.object({
    limit: limit(mostListed, mostListed, 'agents'),
    offset: z.int().min(0).default(0).describe('How many to leave out first'),
  }),
  says: 'count is the number of all',
  output: z.looseObject({ count: z.int(), agents: z.array(Agent) }),
  http: { method: 'get', path: '/verification/agents' },
  tool: {
    name: 'svc_list_agents',
    title: 'List registered agents',
    description: 'All agents that have registered and proven their social account.',
    without: ['limit', 'offset'],
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'verification', method: 'get', path: '/agents' },
  run: async (page, _caller, { verification: { rows } }: VerificationParts) =>
    await rows.read(registeredAgents, page),
});

/** How the service of verification is. */
export const getVerificationHealth = define('getVerificationHealth', {
  remote: healthOf('verification'),
  run: async (_input, _caller, { log, startedAt, verification: { rows } }: VerificationParts) => {
    const count = await rows.read(countAgents).catch(() => undefined);
    return {
      status: log.connected && count !== undefined ? 'ok' : 'degraded',
      ...(count === undefined ? {} : { agents: count }),
      uptime: secondsSince(startedAt),
    };
  },
});

/** Agents that register a nickname by a public post. */
export const verificationOperations = [
  challengeAgent,
  verifyAgent,
  getAgent,
  listAgents,
  getVerificationHealth,
];

async function handle(command: AgentCommand, { log, verification: { lock, rows } }: VerificationParts) {
  return await lock.run(casefold(command.nickname), async () => {
    const { position } = await log.handle(agents, agentDecider, command, { by: command.nickname });
    rows.wrote(position);
    return position;
  });
}

async function requireFree({ nickname }: Claimant, { verification }: VerificationParts): Promise<void> {
  if (await verification.isReserved(casefold(nickname))) throw new Refusal('nickname_reserved');
}

const isSame = (handle: string, other: string): boolean => handle.toLowerCase() === other.toLowerCase();

function noPost(): Refusal {
  const message = 'tweetUrl must be the address of a post, like https://x.com/<handle>/status/<number>';
  return new Refusal('post_url_invalid', message, { details: [{ path: 'tweetUrl', message }] });
}

function notTheirs(handle: string): Refusal {
  return new Refusal('verification_failed', `The post is not one of @${handle}`);
}

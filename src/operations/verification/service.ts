import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  countAgents,
  newAgent,
  registeredAgent,
  registeredAgents,
} from '../../../projections/verification.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { type AgentCommand, agentDecider, agents, challengeMs } from '../../../streams/verification/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { Nick } from '../core/names.js';
import { parseInput } from '../core/validation.js';
import type { ReadPost } from './social/oembed.js';
import { handleGrammar, parsePostAddress } from './social/post.js';

/** Where the verification service is found below its address, which callers are given as a whole. */
export const verificationRoutes = {
  challenge: { method: 'POST', path: '/challenge' },
  verify: { method: 'POST', path: '/verify' },
  agent: { method: 'GET', path: '/agent/:nickname' },
  agents: { method: 'GET', path: '/agents' },
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the verification service works with. */
export interface VerificationOptions {
  log: Log;
  readModels: ReadModels;
  readPost: ReadPost;
  startedAt: Date;
}

const mostListed = 500;

const Handle = z
  .string()
  .regex(handleGrammar, 'must be a handle of 1 to 15 letters, digits and _, with or without @')
  .transform((handle) => handle.replace('@', ''));
/** The contract’s body of a request for a challenge. */
export const ChallengeBody = z.object({ nickname: Nick, socialHandle: Handle });
/** The contract’s body of a proof. */
export const VerifyBody = ChallengeBody.extend({
  tweetUrl: z.string().max(500),
  email: z.email('must be an e-mail address').max(254),
});
const AgentParams = z.object({ nickname: Nick });
/** Which agents are asked for. */
export const AgentsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(mostListed).default(mostListed),
  offset: z.coerce.number().int().min(0).default(0),
});

/** Agents that register a nickname by a public post: gives out challenges, looks for them in posts, lists agents. */
export function createVerification(options: VerificationOptions): Service<typeof verificationRoutes> {
  const { log, readPost, startedAt } = options;
  const rows = new OwnReadModel(options.readModels, 'agents');
  const locks = new KeyedLock();

  /** Commands about one nickname take turns in this process, so that only other processes can be in their way. */
  const handle = (command: AgentCommand, now = log.now()) =>
    locks.run(casefold(command.nickname), async () => {
      const done = await log.handle(agents, agentDecider, command, { by: command.nickname, now });
      rows.wrote(done.position);
      // as it is now: the state lives on with the next command
      const challenge = done.state.challenges.get(command.socialHandle.toLowerCase());
      return { challenge, position: done.position };
    });

  async function challenge({ body }: Input = {}): Promise<Reply> {
    const who = parseInput(ChallengeBody, body);
    const code = randomBytes(4).toString('hex');
    const verificationText = (await handle({ is: 'challenge', code, ...who })).challenge!.text;
    return ok({
      success: true,
      verificationText,
      instructions:
        `Post exactly this text publicly as @${who.socialHandle}: ${verificationText} - ` +
        'then send the address of the post to /verification/verify with nickname, socialHandle, tweetUrl and email.',
      expiresIn: `${challengeMs / 60_000} minutes`,
    });
  }

  async function verify({ body }: Input = {}): Promise<Reply> {
    const { tweetUrl, email, ...who } = parseInput(VerifyBody, body);
    const post = parsePostAddress(tweetUrl);
    if (!post) {
      const message = 'tweetUrl must be the address of a post, like https://x.com/<handle>/status/<number>';
      throw new Refusal('post_url_invalid', message, { details: [{ path: 'tweetUrl', message }] });
    }
    // a post that takes long to be read is not too late for that
    const now = log.now();
    const { challenge } = await handle({ is: 'look', ...who }, now);
    if (!isSame(post.handle, who.socialHandle)) throw notTheirs(who.socialHandle);
    const { author, text } = await readPost(post.url);
    if (author === undefined || !isSame(author, who.socialHandle)) throw notTheirs(who.socialHandle);
    if (!text.includes(challenge!.text)) {
      throw new Refusal('verification_failed', `The post does not have the text ${challenge!.text}`);
    }
    const { position } = await handle({ is: 'register', ...who, postUrl: post.url, email }, now);
    // when the log stored it; who is registered is not to be refused because that cannot be asked now
    const recorded = await log.at(agents, position.seq).catch(() => undefined);
    const agent = newAgent({ ...who, postUrl: post.url }, recorded?.at ?? log.now());
    return ok({ success: true, agent });
  }

  async function show(nickname: string) {
    const key = casefold(nickname);
    const agent = await rows.read((sql, schema) => registeredAgent(sql, schema, key));
    if (!agent) throw new Refusal('not_found', 'Agent not found');
    return agent;
  }

  return {
    challenge,
    verify,
    agent: async ({ params } = {}) => ok(await show(parseInput(AgentParams, params ?? {}).nickname)),
    agents: async ({ query } = {}) => {
      const page = parseInput(AgentsQuery, query ?? {});
      return ok(await rows.read((sql, schema) => registeredAgents(sql, schema, page)));
    },
    health: async () => {
      const count = await rows.read(countAgents).catch(() => undefined);
      return ok({
        status: log.connected && count !== undefined ? 'ok' : 'degraded',
        ...(count === undefined ? {} : { agents: count }),
        uptime: Math.round((Date.now() - startedAt.getTime()) / 1000),
      });
    },
  };
}

const ok = (body: unknown): Reply => ({ status: 200, body });

const isSame = (handle: string, other: string): boolean => handle.toLowerCase() === other.toLowerCase();

function notTheirs(handle: string): Refusal {
  return new Refusal('verification_failed', `The post is not one of @${handle}`);
}

import { z } from 'zod';
import { Refusal, Unavailable } from '../../../../streams/core/index.js';
import { BodyTooLarge, boundedFetch } from '../../../../workers/core/fetch.js';
import { textOfHtml } from './html-text.js';
import { parseAuthorAddress } from './post.js';

/** A post as the social network shows it. */
export interface SocialPost {
  /** Handle of its author without `@`; `undefined` if the answer names none of the network. */
  author: string | undefined;
  text: string;
}

/**
 * Reads a public post by its address. Throws a 400 if it does not exist, a 502 if the network cannot tell.
 */
export type ReadPost = (url: string) => Promise<SocialPost>;

const timeoutMs = 5_000;
const answerBytes = 64 * 1024;

const Answer = z.object({ author_url: z.string(), html: z.string() });

/**
 * Reads posts through an oEmbed endpoint. Only that endpoint is asked: redirects are not followed. It has five
 * seconds and 64 KB for its answer.
 */
export function oembedReader(endpoint: string): ReadPost {
  return async (url) => {
    const target = new URL(endpoint);
    // without the post that it answers, which is somebody else's
    const options = { url, omit_script: 'true', hide_thread: 'true', hide_media: 'true', dnt: 'true' };
    for (const [name, value] of Object.entries(options)) target.searchParams.set(name, value);
    const { author_url, html } = await answerOf(target);
    return { author: parseAuthorAddress(author_url), text: textOfHtml(html) };
  };
}

async function answerOf(target: URL): Promise<z.output<typeof Answer>> {
  const { status, body } = await ask(target);
  if ([400, 401, 403, 404, 410].includes(status)) throw new Refusal('post_not_found');
  if (status !== 200) throw cannotTell(`answered ${status}`);
  if (body === undefined) throw cannotTell('answered more than a post can be');
  const answer = Answer.safeParse(parsed(body));
  if (!answer.success) throw cannotTell('answered with something else than a post');
  return answer.data;
}

/** Status and body as text; without the body if it is too long. */
async function ask(target: URL): Promise<{ status: number; body: string | undefined }> {
  const request = { redirect: 'manual', headers: { accept: 'application/json' } } as const;
  try {
    const response = await boundedFetch(target, request, { timeoutMs, maxBytes: answerBytes });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    if (error instanceof BodyTooLarge) return { status: error.status, body: undefined };
    throw cannotTell('did not answer');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function cannotTell(what: string): Unavailable {
  return new Unavailable('social_unreachable', `The social network ${what}: try again later`);
}

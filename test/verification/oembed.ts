import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from '../support/server-process.js';

/** An oEmbed endpoint of a social network that tests fill with posts, and that can be told to misbehave. */
export interface FakeNetwork {
  /** To be given as `SOCIAL_OEMBED_URL`. */
  url: string;
  /** Requests so far: path and query. */
  readonly asked: URL[];
  /** Publishes a post and returns its address; the HTML has the text as the network would write it. */
  post(handle: string, text: string): string;
  /** Answers with this from now on, whatever is asked; `undefined`: as it should. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
}

/** The endpoint's answer for a post. */
export function oembedAnswer(url: string, handle: string, html: string): object {
  return {
    url,
    author_name: `${handle} (a name)`,
    author_url: `https://twitter.com/${handle}`,
    html,
    width: 550,
    height: null,
    type: 'rich',
    cache_age: '3153600000',
    version: '1.0',
    provider_name: 'Twitter',
    provider_url: 'https://twitter.com',
  };
}

/** A post's HTML, with a link to it after the author's name. */
export function postHtml(url: string, handle: string, text: string): string {
  const escaped = text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/[[\]]/g, (c) => `&#${c.charCodeAt(0)};`);
  return (
    `<blockquote class="twitter-tweet" data-dnt="true"><p lang="en" dir="ltr">${escaped}</p>` +
    `&mdash; A name (@${handle}) <a href="${url}?ref_src=twsrc%5Etfw">March 1, 2026</a></blockquote>\n`
  );
}

/** Starts an endpoint on a free port of this machine. */
export async function startNetwork(t: Teardown): Promise<FakeNetwork> {
  const posts = new Map<string, { handle: string; text: string }>();
  const server = createServer((request, response) => {
    const asked = new URL(request.url ?? '', network.url);
    network.asked.push(asked);
    if (network.misbehave) return network.misbehave(request, response);
    const url = asked.searchParams.get('url') ?? '';
    const found = posts.get(url);
    response.statusCode = found ? 200 : 404;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        found ? oembedAnswer(url, found.handle, postHtml(url, found.handle, found.text)) : { error: 'none' },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const network: FakeNetwork = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/oembed?a=b`,
    asked: [],
    misbehave: undefined,
    post: (handle, text) => {
      const url = `https://twitter.com/${handle}/status/${1_900_000_000 + posts.size}`;
      posts.set(url, { handle, text });
      return url;
    },
  };
  return network;
}

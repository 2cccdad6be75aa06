/** Hosts of the social network; all of them show the same posts. */
const hosts = new Set(['x.com', 'twitter.com'].flatMap((host) => [host, `www.${host}`, `mobile.${host}`]));

/** A handle of the social network as people write it. */
export const handleGrammar = /^@?[A-Za-z0-9_]{1,15}$/;

/** A public post: who wrote it, as its address says, and the one form of its address that we use. */
export interface PostAddress {
  /** Without `@`. */
  handle: string;
  url: string;
}

/** A post by its address; `undefined` for any other address, on whatever host. */
export function parsePostAddress(text: string): PostAddress | undefined {
  const url = addressOnNetwork(text);
  const match = url && /^\/([A-Za-z0-9_]{1,15})\/status\/(\d{1,20})\/?$/.exec(url.pathname);
  if (!match) return undefined;
  const [, handle, id] = match;
  return { handle: handle!, url: `https://twitter.com/${handle}/status/${id}` };
}

/** The handle whose page an address is; `undefined` for any other address. */
export function parseAuthorAddress(text: string): string | undefined {
  return /^\/([A-Za-z0-9_]{1,15})\/?$/.exec(addressOnNetwork(text)?.pathname ?? '')?.[1];
}

function addressOnNetwork(text: string): URL | undefined {
  // what a parser would forgive (spaces, backslashes, controls) is in no address that was copied
  if (!URL.canParse(text) || /[\s\\\x00-\x20]/.test(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, port, username, password } = url;
  const isPlain = protocol === 'https:' && port === '' && username === '' && password === '';
  return isPlain && hosts.has(hostname) ? url : undefined;
}

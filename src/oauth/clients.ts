import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../../streams/core/index.js';

/**
 * A program that people let in. Nothing of it is stored: its id is what it said of itself when it registered. There is
 * no signature over it, since anybody may register anything.
 */
export interface Client {
  id: string;
  /** What it calls itself, on one line. Nobody has checked it. */
  name: string;
  redirectUris: readonly string[];
  /** The same for a program that registers again, also with another port on the machine it runs on. */
  hash: string;
}

/** How long an id may be, how many addresses a program has, and how long the name and each address may be, in characters. */
const most = { id: 2_048, addresses: 10, name: 64, address: 512 } as const;
/** Schemes that are no program of the person's own, or that make a browser run or show something. */
const foreignSchemes = new Set([
  ...['javascript:', 'data:', 'vbscript:', 'blob:', 'filesystem:', 'file:', 'about:', 'view-source:'],
  ...['http:', 'ftp:', 'ws:', 'wss:', 'intent:', 'content:', 'resource:', 'chrome:', 'chrome-extension:'],
]);
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/** What a program says of itself when it registers (RFC 7591), as far as it counts here. */
export const Registration = z.looseObject({
  redirect_uris: z
    .array(z.string())
    .describe('Where people are sent back to')
    .meta({ example: ['http://127.0.0.1/callback'] }),
  client_name: z.string().optional().describe('What people are shown').meta({ example: 'Desktop client' }),
});

/** The program that registers. Throws 400 `invalid_client_metadata` and `invalid_redirect_uri`. */
export function registered(given: unknown): Client {
  const parsed = Registration.safeParse(given);
  if (!parsed.success) throw new Refusal('invalid_client_metadata', 'redirect_uris is a list of addresses');
  const { redirect_uris: addresses, client_name = '' } = parsed.data;
  if (addresses.length === 0 || addresses.length > most.addresses)
    throw new Refusal('invalid_redirect_uri', `redirect_uris has 1 to ${most.addresses} addresses`);
  const wrong = addresses.find((one) => !isRedirectUri(one));
  if (wrong !== undefined) throw new Refusal('invalid_redirect_uri');
  const id = Buffer.from(JSON.stringify([lineOf(client_name), ...new Set(addresses)])).toString('base64url');
  if (id.length > most.id) throw new Refusal('invalid_redirect_uri', 'The addresses are too long together');
  return clientOf(id);
}

/** The program with an id. Throws 400 `invalid_client` where none can have it. */
export function clientOf(id: string): Client {
  const [name, ...redirectUris] = statementOf(id);
  if (name === undefined || redirectUris.length === 0 || redirectUris.length > most.addresses)
    throw new Refusal('invalid_client');
  if (name !== lineOf(name) || !redirectUris.every(isRedirectUri)) throw new Refusal('invalid_client');
  const same = JSON.stringify([name, ...redirectUris.map(withoutPort).sort()]);
  const hash = createHash('sha256').update(same).digest('base64url').slice(0, 22);
  return { id, name: name || 'A program without a name', redirectUris, hash };
}

/** Whether a program may have people sent to an address: one that it registered, at any port on the machine it runs on (RFC 8252). */
export function mayReturnTo({ redirectUris }: Client, address: string): boolean {
  if (redirectUris.includes(address)) return true;
  if (!isRedirectUri(address) || !isLoopback(new URL(address))) return false;
  return redirectUris.some((one) => isLoopback(new URL(one)) && withoutPort(one) === withoutPort(address));
}

/** Where an address leads, in a few words: a place on the web or on this machine, or a program. */
export function destinationOf(address: string): string {
  const { protocol, origin } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? origin : `${protocol}//`;
}

/** An address with parameters added to those that it has. */
export function withParameters(address: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined);
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams(given)}`;
}

/** What an id says, in the only form that it is made in. */
function statementOf(id: string): string[] {
  if (id.length > most.id || !/^[\w-]+$/.test(id)) return [];
  try {
    const said: unknown = JSON.parse(Buffer.from(id, 'base64url').toString());
    const isStatement = Array.isArray(said) && said.every((one) => typeof one === 'string');
    return isStatement && Buffer.from(JSON.stringify(said)).toString('base64url') === id ? said : [];
  } catch {
    return [];
  }
}

function isRedirectUri(text: string): boolean {
  if (text.length > most.address || !/^[\x21-\x7e]+$/.test(text) || /[#\\"<>^`{|}]/.test(text)) return false;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || !text.startsWith(`${url.protocol}//`)) return false;
  if (url.protocol === 'https:' || isLoopback(url)) return true;
  return !foreignSchemes.has(url.protocol) && !url.protocol.startsWith('ms-');
}

const isLoopback = ({ protocol, hostname }: URL) => protocol === 'http:' && loopbackHosts.has(hostname);

function withoutPort(address: string): string {
  const url = new URL(address);
  if (!isLoopback(url)) return address;
  url.port = '';
  return url.href;
}

/** A name as it is shown: on one line, without what turns text around or hides. */
function lineOf(name: string): string {
  const shown = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return [...shown].slice(0, most.name).join('').trim();
}

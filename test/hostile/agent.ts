import { createSignerClient } from '@slicekit/erc8128';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Observer } from '../support/irc-observer.js';

/** An answer of the service, as somebody outside sees it. */
export interface Seen {
  status: number;
  text: string;
  headers: Headers;
}

/** What a stranger knows: where the service and its network are. */
export interface Known {
  /** Sends a request to the public address. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The public address, which signatures are for. */
  publicUrl: string;
  /** Comes to the network under a nick, from one of the addresses that the stranger has. */
  connect(nick: string, address?: number): Promise<Observer>;
}

/** How long an answer that does not end is listened to, in milliseconds. */
const listenMs = 1_500;

/** A stranger with bad intent, who has what anybody can get: a nick, a wallet, and the key of both. */
export class HostileAgent {
  readonly nick = 'mallory';
  readonly wallet = privateKeyToAccount(generatePrivateKey());
  /** All that was answered and heard. */
  readonly heard: string[] = [];
  key: Record<string, string> = {};
  readonly known: Known;
  readonly #signer = createSignerClient({
    chainId: 8453,
    address: this.wallet.address,
    signMessage: (raw) => this.wallet.signMessage({ message: { raw } }),
  });
  #there: Observer[] = [];

  constructor(known: Known) {
    this.known = known;
  }

  /** Comes to the network under a nick. */
  async comes(nick: string, address?: number): Promise<Observer> {
    const one = await this.known.connect(nick, address);
    this.#there.push(one);
    return one;
  }

  /** Everything that it was told, on the network too. */
  all(): string[] {
    return [...this.heard, ...this.#there.flatMap(({ raw }) => raw)];
  }

  /** One request, with a JSON body where there is one. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    const json = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await this.known.fetch(path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: json }),
    });
    const text = await textOf(response);
    this.heard.push(text);
    return { status: response.status, text, headers: response.headers };
  }

  /** The same, read as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  async read(path: string, headers: Record<string, string> = {}): Promise<any> {
    return JSON.parse((await this.ask('GET', path, undefined, headers)).text);
  }

  /** The headers that sign a request with the wallet. */
  async signature(method: string, path: string, body?: unknown): Promise<Record<string, string>> {
    const { nonce } = await this.read('/auth/erc8128/nonce');
    const init: RequestInit = body
      ? { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      : { method };
    const signed = await this.#signer.signRequest(this.known.publicUrl + path, init, {
      ttlSeconds: 300,
      nonce,
    });
    return Object.fromEntries(signed.headers);
  }

  /** Calls a tool; whether it was done. */
  async tool(name: string, args: object, headers: Record<string, string>): Promise<boolean> {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    const { status, text } = await this.ask('POST', '/mcp', call, headers);
    return status === 200 && JSON.parse(text).result !== undefined && !JSON.parse(text).result.isError;
  }

  /** Sends a message to the A2A agent; answers its task. */
  async message(text: string): Promise<{ id: string }> {
    const parts = [{ kind: 'text', text }];
    const message = { kind: 'message', messageId: `m-${Math.random()}`, role: 'user', parts };
    const asked = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
    return JSON.parse((await this.ask('POST', '/a2a/v1', asked)).text).result;
  }

  /** Gets what anybody can: an account, a link, a proven wallet, and an agent key. */
  async settle(register: (user: Observer) => Promise<void>): Promise<Observer> {
    const me = await this.comes(this.nick);
    await register(me);
    me.send(`PRIVMSG mrserv :LINK ${this.wallet.address}`);
    await me.waitFor(({ nick, text }) => nick === 'mrserv' && /0x/.test(text));
    const { challenge } = JSON.parse(
      (await this.ask('POST', '/identity/verify-challenge', { nick: this.nick })).text,
    );
    const signature = await this.wallet.signMessage({ message: challenge });
    await this.ask('POST', '/identity/verify-signature', { nick: this.nick, signature });
    const body = { nick: this.nick };
    const made = await this.ask('POST', '/auth/keys', body, await this.signature('POST', '/auth/keys', body));
    if (made.status !== 201) throw new Error(`no key: ${made.status} ${made.text}`);
    this.key = { 'x-api-key': JSON.parse(made.text).key };
    this.heard.length = 0;
    return me;
  }
}

/** The text of an answer, or what came of it until nobody listens any more. */
async function textOf(response: Response): Promise<string> {
  if (!/event-stream/.test(response.headers.get('content-type') ?? '')) return await response.text();
  const reader = response.body!.getReader();
  const end = setTimeout(() => void reader.cancel(), listenMs);
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += Buffer.from(value).toString();
  }
  clearTimeout(end);
  return text;
}

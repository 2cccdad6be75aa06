import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createSignerClient } from '@slicekit/erc8128';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { hangMs } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import type { Teardown } from '../support/server-process.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, looked at by tests
export type Any = any;

/** An answer as the agent sees it. */
export interface Answer {
  status: number;
  body: Any;
  headers: Headers;
}

/** What the agent has to say, by words that the name or the description of a field must have. */
export type Values = Record<string, unknown>;

interface Field {
  name: string;
  description?: string;
  required?: boolean;
  in: string;
  /** What it takes. */
  schema?: Any;
}

/** Puts each value into the field that is described with its words. */
function fill(where: string, fields: readonly Field[], values: Values): Map<Field, unknown> {
  const filled = new Map<Field, unknown>();
  for (const [words, value] of Object.entries(values)) {
    const of = new RegExp(words, 'i');
    const free = fields.filter((field) => !filled.has(field));
    const field =
      free.find(({ name }) => name === words) ??
      free.find(({ description = '' }) => of.test(description)) ??
      free.find(({ name }) => of.test(name));
    if (!field) throw new Error(`${where} does not say where to put "${words}"`);
    const choices = field.schema?.enum ?? field.schema?.items?.enum;
    const strange = choices && [value].flat().find((one) => !choices.includes(one));
    if (strange !== undefined) throw new Error(`${where} does not say that ${field.name} may be ${strange}`);
    filled.set(field, value);
  }
  const missing = fields.find((field) => field.required && !filled.has(field));
  if (missing) throw new Error(`${where} does not say what its field ${missing.name} is for`);
  return filled;
}

const fieldsOf = (schema: Any = {}, place = 'body'): Field[] =>
  Object.entries<Any>(schema.properties ?? {}).map(([name, of]) => ({
    name,
    description: of.description,
    schema: of,
    required: schema.required?.includes(name) ?? false,
    in: place,
  }));

/**
 * An agent that was given a base address and no more. It can speak HTTP, IRC, MCP, x402 and ERC-8128 as any library
 * does. Every path, name, header and format of this service it takes from what the service says.
 */
export class Newcomer {
  readonly walletKey = generatePrivateKey();
  readonly wallet = privateKeyToAccount(this.walletKey);
  /** The documents that it has read, by path, in their order. */
  readonly documents = new Map<string, string>();
  /** What the addresses in them answered. */
  readonly answered = new Map<string, number>();
  /** Its agent key, once it has one. */
  key = '';
  static #hosts = 0;
  readonly #host = `127.0.8.${++Newcomer.#hosts}`;

  private constructor(
    private readonly t: Teardown,
    readonly base: string,
    readonly nick: string,
  ) {}

  /** Comes to the base address, and reads all that it is led to. */
  static async arrive(t: Teardown, base: string, nick: string): Promise<Newcomer> {
    const one = new Newcomer(t, base, nick);
    const addresses = [`${base}/`];
    for (const address of addresses) {
      const links = (await one.#read(address)).matchAll(/https?:\/\/[^\s`"')|]+/g);
      for (const [link] of links) {
        const clean = link.replace(/[.,;:]+$/, '');
        const isWhole = !/[<{…]|\/(?:your|evt)-/.test(clean);
        if (isWhole && clean.startsWith(base) && !addresses.includes(clean)) addresses.push(clean);
      }
    }
    return one;
  }

  /** Reads an address; the text of a document whose links are followed. */
  async #read(address: string): Promise<string> {
    const response = await fetch(address, { signal: AbortSignal.timeout(hangMs) });
    const path = address.slice(this.base.length) || '/';
    this.answered.set(path, response.status);
    const type = response.headers.get('content-type') ?? '';
    if (!response.ok || !/markdown|json/.test(type)) {
      await response.body?.cancel();
      return '';
    }
    const text = await response.text();
    this.documents.set(path, text);
    return type.includes('markdown') ? text : '';
  }

  /** What documents say: the first group of the first that match. */
  told(words: RegExp, what: string, among = /\.md$|^\/$/): string {
    for (const [path, text] of this.documents) {
      const found = among.test(path) && words.exec(text)?.slice(1).find(Boolean);
      if (found) return found;
    }
    throw new Error(`${[...this.documents.keys()].filter((path) => among.test(path))} do not say ${what}`);
  }

  /** The nick of a service or bot of the network, by its role. */
  nickOf(role: string): string {
    const nick = '`([A-Za-z][\\w-]*)`';
    const words = `${role}\\W{1,3}(?:usually |which is |is )?${nick}|${nick}, the (?:network.s )?${role}`;
    return this.told(new RegExp(words), `which nick the ${role} has`);
  }

  /** A document that is JSON. */
  json(path: RegExp): Any {
    const [, text] = [...this.documents].find(([name]) => path.test(name)) ?? [];
    if (!text) throw new Error(`nothing leads to ${path}`);
    return JSON.parse(text);
  }

  /** The operation whose summary has these words. */
  operation(words: RegExp): { method: string; path: string; spec: Any } {
    const { paths } = this.json(/openapi/);
    const found = Object.entries<Any>(paths).flatMap(([path, methods]) =>
      Object.entries<Any>(methods)
        .filter(([, { summary }]) => words.test(summary))
        .map(([method, spec]) => ({ method: method.toUpperCase(), path, spec })),
    );
    if (found.length !== 1) throw new Error(`/openapi.json has ${found.length} operations for ${words}`);
    return found[0]!;
  }

  /** The request of an operation, with the values in the fields that are described so. */
  request(words: RegExp, values: Values = {}) {
    const { method, path, spec } = this.operation(words);
    const schema = spec.requestBody?.content['application/json'].schema;
    const fields = [...(spec.parameters ?? []), ...fieldsOf(schema)];
    const filled = fill(`/openapi.json, ${method} ${path},`, fields, values);
    const body: Record<string, unknown> = {};
    const headers: Record<string, string> = schema ? { 'content-type': 'application/json' } : {};
    const query = new URLSearchParams();
    let to = path;
    for (const [{ name, in: place }, value] of filled) {
      if (place === 'path') to = to.replace(`{${name}}`, encodeURIComponent(String(value)));
      else if (place === 'query') query.set(name, String(value));
      else if (place === 'header') headers[name] = String(value);
      else body[name] = value;
    }
    const asked = query.size > 0 ? `?${query}` : '';
    const init = { method, headers, ...(schema ? { body: JSON.stringify(body) } : {}) };
    return { url: `${this.json(/openapi/).servers[0].url}${to}${asked}`, init };
  }

  /** Asks what an operation is for, with a key where there is one. */
  async ask(words: RegExp, values: Values = {}, key = this.key): Promise<Answer> {
    const { url, init } = this.request(words, values);
    return await this.send(url, { ...init, headers: { ...init.headers, ...this.credential(key) } });
  }

  /** Sends a request as it is. */
  async send(url: string, init: RequestInit = {}, through: typeof fetch = fetch): Promise<Answer> {
    const response = await through(url, { signal: AbortSignal.timeout(hangMs), ...init });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
  }

  /** The header that carries a key. */
  credential(key: string): Record<string, string> {
    return key === '' ? {} : { [this.told(/`(X-[\w-]*Api-Key): <key>`/, 'how a key is sent')]: key };
  }

  /** Signs a request with its wallet, as the guide says, and sends it. */
  async signed(url: string, init: RequestInit): Promise<Answer> {
    const place = this.told(/`GET (\S+)`[^\n]*\{nonce/, 'where a nonce is got');
    const signer = createSignerClient({
      chainId: Number(this.told(/`erc8128:(\d+):/, 'which chain a signature is for')),
      address: this.wallet.address,
      signMessage: (raw) => this.wallet.signMessage({ message: { raw } }),
    });
    const nonce = async () => (await this.send(place)).body.nonce as string;
    const ttlSeconds = Number(this.told(/signature holds for at most (\d+) seconds/, 'how long it may hold'));
    return await this.send(url, init, (to, sent) => signer.fetch(to as string, sent, { nonce, ttlSeconds }));
  }

  /** Comes to the tools. */
  async tools(key = this.key): Promise<Tools> {
    const client = new Client({ name: this.nick, version: '1' });
    const place = new URL(this.told(/MCP: `(\S+)`/, 'where MCP is'));
    const requestInit = { headers: this.credential(key) };
    await client.connect(new StreamableHTTPClientTransport(place, { requestInit }) as never);
    this.t.teardown(() => client.close());
    return new Tools(client, (await client.listTools()).tools);
  }

  /** Comes to the network under its nick. */
  async comes(nick = this.nick): Promise<Observer> {
    const address = new URL(this.told(/IRC: `(ircs?:\S+)`/, 'where IRC is'));
    const one = await observe(Number(address.port), { nick, host: this.#host, reconnect: false });
    this.t.teardown(() => one.stop());
    return one;
  }

  /** Tells a nick something, and waits for the answer that has these words. */
  async says(me: Observer, to: string, text: string, answer: RegExp): Promise<string> {
    const from = me.lines.length;
    me.send(`PRIVMSG ${to} :${text}`);
    const find = () => me.lines.slice(from).find((line) => line.nick === to && answer.test(plain(line.text)));
    await me.waitUntil(() => find() !== undefined, `${to} to answer ${answer} to ${text}`);
    return plain(find()!.text);
  }
}

/** A text without the signs for bold and colours. */
const plain = (text: string) => text.replace(/[\x02\x1d\x1f\x0f]|\x03\d*/g, '');

/** The tools as they are listed. */
export class Tools {
  constructor(
    readonly client: Client,
    readonly listed: Any[],
  ) {}

  /** The name of the tool that is described so. */
  named(words: RegExp): string {
    const found = this.listed.filter(({ description }) => words.test(description));
    if (found.length !== 1) throw new Error(`tools/list has ${found.length} tools for ${words}`);
    return found[0].name as string;
  }

  /** Uses the tool that is described so. */
  async use(words: RegExp, values: Values = {}): Promise<Any> {
    const name = this.named(words);
    const { inputSchema } = this.listed.find((tool) => tool.name === name);
    const filled = fill(`tools/list, ${name},`, fieldsOf(inputSchema), values);
    const args = Object.fromEntries([...filled].map(([field, value]) => [field.name, value]));
    const result: Any = await this.client.callTool({ name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
    return result.structuredContent ?? JSON.parse(result.content[0].text);
  }
}

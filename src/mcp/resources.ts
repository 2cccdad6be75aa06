import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import { isExpected } from '../../streams/core/index.js';
import { withoutHash } from '../../streams/irc-grammar.js';
import { rpcAnswer } from '../http/json-rpc.js';
import type { Call } from '../operations/core/call.js';
import type { Caller } from '../operations/core/operation.js';
import { requireScope } from '../operations/core/rights.js';
import { catchUp } from '../operations/network/catch-up.js';
import { listIrcChannels } from '../operations/network/reads.js';

/** What resources are read from. */
export interface ResourceSources {
  call: Call;
  /** The skill: the names of its files, and the text of one. */
  skill: { version(): Promise<{ files: readonly string[] }>; file(name: string): Promise<string> };
}

/** The JSON-RPC code of a resource that does not exist, or not for this caller. */
const noResource = -32002;
const invalidParams = -32602;
const mostOnPage = 100;
/** What the text of a channel may cost, in tokens. */
const channelTokens = 2_000;

/** The address of a channel among the resources; its name is with or without the #. */
export const channelUri = (name: string): string =>
  `relay://channels/${encodeURIComponent(withoutHash(name))}`;

/** The channel that an address is of; `undefined` when it is another address. */
export function channelOf(uri: string): string | undefined {
  const found = partsOf(uri);
  return found?.kind === 'channels' ? found.name : undefined;
}

/** Id of the last line that the text of a channel is made of; before every line, where nothing was said. */
export function lastLineOf({ contents }: ReadResourceResult): string {
  const [content] = contents;
  const said = content && 'text' in content ? (JSON.parse(content.text) as { next?: string | null }) : {};
  return said.next ?? '0-0';
}

function partsOf(uri: string): { kind: string; name: string } | undefined {
  const [, kind, name] = /^relay:\/\/(channels|skill)\/([^/?#]{1,300})$/.exec(uri) ?? [];
  if (kind === undefined || name === undefined) return undefined;
  try {
    return { kind, name: decodeURIComponent(name) };
  } catch {
    return undefined;
  }
}

/**
 * What clients can attach without a tool: the channels that the caller may see, with what was last said there, and the
 * files of the skill. Rights are those of the same reads over HTTP.
 */
export class Resources {
  readonly #sources: ResourceSources;

  constructor(sources: ResourceSources) {
    this.#sources = sources;
  }

  /** A page of them, by address. Throws an error of JSON-RPC. */
  async list(caller: Caller, cursor: string | undefined): Promise<ListResourcesResult> {
    if (cursor !== undefined && !partsOf(cursor))
      throw rpcError(invalidParams, 'cursor must be the nextCursor of a list', { code: 'validation_failed' });
    const [channels, { files }] = await asked(async () => {
      requireScope(caller, 'read');
      const { call, skill } = this.#sources;
      return await Promise.all([call(listIrcChannels, {}, caller), skill.version()]);
    });
    const all = [
      ...channels.map(({ name, users }) => ({
        uri: channelUri(name),
        name,
        description: `What was last said in ${name}. Users in it: ${users}.`,
        mimeType: 'application/json',
      })),
      ...files.map((file) => ({
        uri: `relay://skill/${file}`,
        name: file,
        description: 'A part of the skill: how to use this network.',
        mimeType: 'text/markdown',
      })),
    ].sort((a, b) => (a.uri < b.uri ? -1 : 1));
    const after = cursor === undefined ? all : all.filter(({ uri }) => uri > cursor);
    const resources = after.slice(0, mostOnPage);
    return { resources, ...(after.length > mostOnPage ? { nextCursor: resources.at(-1)!.uri } : {}) };
  }

  /** How addresses are made. */
  templates(): ListResourceTemplatesResult {
    return {
      resourceTemplates: [
        {
          uriTemplate: 'relay://channels/{channel}',
          name: 'channel',
          description: `What was last said in a channel, in ${channelTokens} tokens. Its name is without the #.`,
          mimeType: 'application/json',
        },
        {
          uriTemplate: 'relay://skill/{file}',
          name: 'skill',
          description: 'A file of the skill, such as SKILL.md.',
          mimeType: 'text/markdown',
        },
      ],
    };
  }

  /** The text of one. Throws an error of JSON-RPC. */
  async read(caller: Caller, uri: string): Promise<ReadResourceResult> {
    const found = partsOf(uri);
    if (!found) throw notThere(uri);
    return await asked(async () => {
      requireScope(caller, 'read');
      const { kind, name } = found;
      if (kind === 'skill')
        return { contents: [{ uri, mimeType: 'text/markdown', text: await this.#sources.skill.file(name) }] };
      const said = await this.#sources.call(catchUp, { channels: [name], tokens: channelTokens }, caller);
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(said) }] };
    }, uri);
  }
}

/** What is expected to go wrong as an error of JSON-RPC; a bug stays one. */
export async function asked<T>(work: () => Promise<T>, uri?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isExpected(error)) throw error;
    if (error.code === 'not_found' && uri !== undefined) throw notThere(uri);
    const { code, message, data } = rpcAnswer(error)!.error;
    throw rpcError(code, message, data);
  }
}

const notThere = (uri: string) =>
  rpcError(noResource, 'There is no such resource, or not for this caller', {
    code: 'not_found',
    uri: uri.slice(0, 400),
    hint: 'resources/list has those that there are',
  });

const rpcError = (code: number, message: string, data: object) =>
  Object.assign(new Error(message), { code, data });

import { type RefusalCode, refusals } from '../../streams/refusals.js';
import type { Description, Refusals, Tag } from '../operations/core/description.js';

type Json = Record<string, unknown>;

/** What every operation of a kind can be refused with: in words, and by name in the catalogue. */
type General = Record<number, { says: string; names: readonly RefusalCode[] }>;

const ofEvery: General = {
  400: { says: 'The request is not well-formed', names: ['bad_request'] },
  429: { says: 'Too many requests from this address, or with this key', names: ['rate_limited'] },
  500: { says: 'A fault of this service; request_id is in its log', names: ['internal_error'] },
  503: {
    says: 'A part of the service is away for now',
    names: ['stopping', 'log_unavailable', 'store_unavailable', 'read_model_building', 'read_model_behind'],
  },
};
const ofServices: General = {
  502: {
    says: 'The part of the service that this is about cannot be reached',
    names: ['upstream_unreachable', 'upstream_invalid'],
  },
};
const wrongKeys = ['api_key_invalid', 'api_key_expired', 'api_key_void'] as const;
const ofKeys: General = {
  401: {
    says: 'No API key, or one that is not known',
    names: ['api_key_required', ...wrongKeys],
  },
  403: {
    says: 'No keys are configured and the caller is not on this machine, or an agent key is not good for it',
    names: ['api_keys_not_configured', 'scope_missing'],
  },
};
const ofNicks: General = {
  403: { ...ofKeys[403]!, names: [...ofKeys[403]!.names, 'not_your_nick'] },
};
const ofOptionalKeys: General = {
  401: { says: 'The API key that was sent is not known', names: wrongKeys },
};
const ofInput: General = {
  400: {
    says: 'The input is not valid; details names each bad field',
    names: ['validation_failed', 'bad_request'],
  },
};
const ofBodies: General = {
  ...ofInput,
  413: { says: 'The body is too large', names: ['payload_too_large'] },
  415: { says: 'The body is not JSON', names: ['unsupported_media_type'] },
};
const ofParameters: General = { 414: { says: 'A part of the path is too long', names: ['uri_too_long'] } };

/** Groups of operations that every process which serves the API answers by itself. */
const ownTags: readonly Tag[] = ['Authentication', 'Agents', 'Discovery', 'System', 'Operations'];

function generalOf({ method, tag, access = 'open', ofOwnNick, query, params }: Description): General {
  return {
    ...ofEvery,
    ...(ownTags.includes(tag) ? {} : ofServices),
    ...(access.startsWith('key') ? ofKeys : {}),
    ...(ofOwnNick ? ofNicks : {}),
    ...(access === 'open, more with a key' ? ofOptionalKeys : {}),
    ...(query ? ofInput : {}),
    // a body may come with each of them, wanted or not
    ...(method === 'get' || method === 'head' ? {} : ofBodies),
    ...(params ? ofParameters : {}),
  };
}

/** The responses of everything that an operation can be refused with, by status. */
export function errorResponses(operation: Description): Record<string, Json> {
  const { refusals: declared = {}, errors = {}, passesOn } = operation;
  const own = new Set(namesOf(declared).map((name) => refusals[name].status));
  const general = Object.entries(generalOf(operation)).filter(([status]) => !own.has(Number(status)));
  const says = { ...Object.fromEntries(general.map(([status, { says }]) => [status, says])), ...errors };
  return refusalResponses(everyNameOf(operation), { says, declared, passesOn });
}

/**
 * The responses of refusals, one a status, each code an example that is named there (`refusalExamples` has them).
 * `says` describes a status, `declared` what a refusal means here; else the catalogue does.
 */
export function refusalResponses(
  names: readonly RefusalCode[],
  told: { says?: Record<number, string>; declared?: Refusals; passesOn?: string | undefined } = {},
): Record<string, Json> {
  const { says = {}, declared = {}, passesOn } = told;
  const statuses = new Set([...Object.keys(says).map(Number), ...names.map((name) => refusals[name].status)]);
  return Object.fromEntries(
    [...statuses].map((status) => {
      const here = names.filter((name) => refusals[name].status === status);
      const meanings = here.map((name) => `\`${codeOf(name)}\`: ${meaningOf(name, declared)}`);
      const examples = here.map((name) => [name, { $ref: `#/components/examples/${name}` }]);
      const content = {
        // what somebody else calls an error may be any JSON
        schema: passesOn ? {} : { $ref: '#/components/schemas/Error' },
        ...(here.length > 0 ? { examples: Object.fromEntries(examples) } : {}),
      };
      const description = says[status] ?? meanings.join('\n\n');
      return [status, { description, content: { 'application/json': content } }];
    }),
  );
}

/** A body of each refusal that operations can give, for the responses that name it. */
export function refusalExamples(operations: readonly Description[]): Json {
  return Object.fromEntries(
    [...new Set(operations.flatMap(everyNameOf))].map((name) => {
      const { says, hint } = refusals[name];
      const value = { error: says, code: codeOf(name), ...(hint === undefined ? {} : { hint }) };
      return [name, { summary: says, value }];
    }),
  );
}

const namesOf = (declared: Refusals) => Object.keys(declared) as RefusalCode[];
function meaningOf(name: RefusalCode, declared: Refusals): string {
  const here = declared[name];
  return typeof here === 'string' ? here : refusals[name].says;
}

const codeOf = (name: RefusalCode) => refusals[name].code ?? name;

function everyNameOf(operation: Description): RefusalCode[] {
  const general = Object.values(generalOf(operation)).flatMap(({ names }) => names);
  return [...new Set([...general, ...namesOf(operation.refusals ?? {})])];
}

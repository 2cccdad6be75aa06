import { Ajv, type ValidateFunction } from 'ajv';
import { reportTo } from '../../support/contract.js';
import { eventually } from '../../support/eventually.js';
import type { Teardown } from '../../support/server-process.js';
import { Dice } from './dice.js';
import { type Described, key, type Listed, requestOf, type Sources } from './requests.js';
import { anId, type Schema } from './schema.js';
import { fuzzStage } from './stage.js';
import { type Got, type Wanted, Wire } from './wire.js';

/** What a run has to show. */
export interface Outcome {
  requests: number;
  /** How many answers there were of each status. */
  statuses: Record<string, number>;
  /** The same for each operation. */
  operations: Record<string, Record<string, number>>;
  seconds: number;
  /** What must not be, each with the number of the first request that showed it. */
  violations: string[];
}

/** Requests that are under way at once. */
const atOnce = 16;

/**
 * Asks a whole service so many requests made by a seed. A violation is an answer that the description does not
 * have, a fault of the service, no answer at all, or a service that is not well afterwards. Request `n` is the same
 * in every run with its seed, but for ids that answers have given; `only` runs it alone.
 */
export async function fuzz(
  t: Teardown,
  { seed, requests, only }: { seed: number; requests: number; only?: number | undefined },
): Promise<Outcome> {
  const found = new Map<string, string>();
  const statuses: Record<string, number> = {};
  const operations: Outcome['operations'] = {};
  const violation = (what: string, detail: string) => {
    if (!found.has(what)) found.set(what, detail);
  };
  reportTo(({ exchange: { method, route, url, status, body }, reason }) =>
    violation(`${method} ${route ?? 'no route'} ${status}: ${reason}`, `${url} ${body?.slice(0, 300)}`),
  );
  const stage = await fuzzStage(t, seed);
  const sources = await sourcesOf(stage.url);
  const wire = new Wire(stage.port);
  const ids = new Ids();
  const tools = toolJudge(sources.tools);
  const started = Date.now();
  let next = 0;
  async function some(): Promise<void> {
    for (let number = next++; number < requests; number = next++) {
      if (only !== undefined && number !== only) continue;
      const wanted = withId(requestOf(new Dice(seed * 1_000_003 + number), sources), ids, number);
      const shown = `request ${number}: ${told(wanted)}`;
      try {
        const got = await wire.ask(wanted);
        count(statuses, got.status);
        const operation = operationOf(wanted, sources.operations);
        if (operation) {
          operations[operation] ??= {};
          count(operations[operation], got.status);
        }
        ids.learn(wanted, got);
        const reason = reasonAgainst(wanted, got) ?? tools(wanted, got);
        if (reason) violation(reason, shown);
      } catch (error) {
        violation(`no answer: ${(error as Error).message}`, shown);
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, some));
  const seconds = (Date.now() - started) / 1_000;
  wire.close();
  await isWell(stage.url).catch((error: Error) => violation('not well afterwards', error.message));
  // answers of 500 are in the log too, the marketplace's among them
  for (const fault of stage.faults.filter((line) => !line.includes('"msg":"request"')))
    violation(faultOf(fault), fault.slice(0, 1_500));
  return {
    requests,
    statuses,
    operations,
    seconds,
    violations: [...found].map(([what, detail]) => `${what}\n    ${detail}`),
  };
}

function count(counts: Record<string, number>, status: number): void {
  counts[status] = (counts[status] ?? 0) + 1;
}

/** Ids that the service has given out, by the first part of the path where they mean something. */
class Ids {
  readonly #known = new Map<string, string[]>();

  learn({ target }: Wanted, { status, text }: Got): void {
    const id = status === 201 && /"id":"([\w-]+)"/.exec(text)?.[1];
    if (id) this.#of(target).push(id);
  }

  one(target: string, number: number): string {
    const known = this.#of(target);
    return known[number % known.length] ?? anId;
  }

  #of(target: string): string[] {
    const area = target.split('/')[1]!;
    const known = this.#known.get(area) ?? [];
    this.#known.set(area, known);
    return known;
  }
}

function withId(wanted: Wanted, ids: Ids, number: number): Wanted {
  const { target, body } = wanted;
  if (!target.includes(anId) && !body?.includes(anId)) return wanted;
  const id = ids.one(target, number);
  const text = body && Buffer.from(body.toString().replaceAll(anId, id));
  return { ...wanted, target: target.replaceAll(anId, id), body: text };
}

/** A request in one line, cut where it is long. */
function told({ method, target, headers, body }: Wanted): string {
  const lines = headers.map(([name, value]) => `${name}: ${value.slice(0, 60)}`);
  return JSON.stringify([`${method} ${target.slice(0, 200)}`, ...lines, body?.toString().slice(0, 300)]);
}

async function sourcesOf(url: string): Promise<Sources> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema> };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  );
  const listed = (await (
    await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
  ).json()) as { result: { tools: Listed[] } };
  const card = (await (await fetch(`${url}/a2a/v1`)).json()) as { skills: { id: string }[] };
  return {
    operations: weighted(operations),
    named: document.components.schemas,
    tools: listed.result.tools,
    skills: card.skills.map(({ id }) => id),
  };
}

/** The doors that lead to many rooms are tried more often than one document. */
function weighted(operations: Described[]): Described[] {
  return operations.flatMap((operation) => {
    const { operationId, method } = operation;
    const weight =
      operationId === 'callTools' ? 20 : operationId === 'askAgent' ? 6 : method === 'get' ? 1 : 3;
    return Array<Described>(weight).fill(operation);
  });
}

function operationOf({ method, target }: Wanted, operations: Described[]): string | undefined {
  const path = target.split('?')[0]!;
  return operations.find(
    (one) =>
      one.method.toUpperCase() === method &&
      new RegExp(`^${one.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`).test(
        path,
      ),
  )?.operationId;
}

function reasonAgainst({ target }: Wanted, { status, headers, text }: Got): string | undefined {
  const type = String(headers['content-type']);
  // the marketplace's own 500 is passed on as it is
  if (status === 500 && text.includes('internal_error')) return `a fault: ${text.slice(0, 200)}`;
  if (/"code":-32603/.test(text)) return `a fault of JSON-RPC: ${text.slice(0, 200)}`;
  // HEAD has no body, and so has what was cut off
  if (status < 400 || text === '') return undefined;
  // the one page that people see says itself what is wrong; that it is described is held elsewhere
  const isPage = target.split('?')[0] === '/oauth/authorize' && /^text\/html\b/.test(type);
  if (!/json/.test(type) && !isPage) return `${status} of type ${type}`;
  return undefined;
}

/** Results of tools are what their own schemas say, as clients check it. */
function toolJudge(tools: readonly Listed[]): (wanted: Wanted, got: Got) => string | undefined {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const schemas = new Map<string, ValidateFunction>();
  for (const { name, outputSchema } of tools) if (outputSchema) schemas.set(name, ajv.compile(outputSchema));
  return ({ target, body }, { status, text }) => {
    if (target !== '/mcp' || status !== 200) return undefined;
    try {
      const { params } = JSON.parse(body!.toString()) as { params: { name: string } };
      const { result } = JSON.parse(text) as { result?: { structuredContent?: unknown; isError?: boolean } };
      const validate = schemas.get(params.name);
      if (!validate || !result || result.isError || validate(result.structuredContent)) return undefined;
      return `the result of ${params.name}: ${ajv.errorsText(validate.errors)}`;
    } catch {
      // not one call with one answer
      return undefined;
    }
  };
}

/** One line of the log, without what is different each time. */
function faultOf(line: string): string {
  const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
  return `logged: ${msg} ${err?.message ?? ''}`;
}

async function isWell(url: string): Promise<void> {
  const headers = { 'x-api-key': key };
  await eventually('the service to be ready', async () => (await fetch(`${url}/ready`)).ok);
  await eventually('every part to be healthy and every read model to follow', async () => {
    const health = (await (await fetch(`${url}/health`)).json()) as {
      services: Record<string, { status: string }>;
    };
    const bad = Object.entries(health.services).filter(
      ([, { status }]) => status !== 'ok' && status !== 'healthy',
    );
    const { projections } = (await (await fetch(`${url}/ops/projections`, { headers })).json()) as {
      projections: { name: string; state: string }[];
    };
    const halted = projections.filter(({ state }) => state === 'halted');
    if (bad.length + halted.length > 0) throw new Error(JSON.stringify({ bad, halted }));
    return true;
  });
}

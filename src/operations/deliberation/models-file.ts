import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Model } from '../../../workers/deliberation/index.js';

const price = z.number().min(0).max(10_000);

const ModelEntry = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/, 'must be 1 to 64 of A-Z a-z 0-9 . _ : / -'),
  provider: z.string().min(1).max(64),
  base_url: z.url({ protocol: /^https?$/, message: 'must be an address like https://api.example/v1' }),
  /** Name at the provider; the id by default. */
  model: z.string().min(1).optional(),
  /** Name of the environment variable that has the key; none for providers without keys. */
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
    .optional(),
  /** US dollars per million tokens. */
  price_in: price,
  price_out: price,
  capabilities: z.array(z.string().min(1).max(64)).max(20).default(['chat']),
  stream: z.boolean().default(true),
  tokens_parameter: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
  /** Whether it draws the answers together, instead of the first model of a query. */
  synthesizer: z.boolean().default(false),
});

const ModelsFile = z
  .array(ModelEntry)
  .max(100)
  .refine((models) => new Set(models.map(({ id }) => id)).size === models.length, 'has an id twice')
  .refine(
    (models) => models.filter(({ synthesizer }) => synthesizer).length <= 1,
    'has more than one synthesizer',
  );

/** A model as the operator configured it. */
export interface ConfiguredModel extends Model {
  apiKeyEnv: string | undefined;
  synthesizer: boolean;
}

/** Reads the models that queries may name, without their keys. Throws an error that says what is wrong, and where. */
export function readModelsFile(path: string): ConfiguredModel[] {
  const result = ModelsFile.safeParse(parsed(path));
  if (result.success) {
    return result.data.map(({ id, provider, capabilities, stream, synthesizer, ...entry }) => ({
      id,
      provider,
      capabilities,
      stream,
      synthesizer,
      baseUrl: entry.base_url,
      name: entry.model ?? id,
      prices: { in: entry.price_in, out: entry.price_out },
      tokensParameter: entry.tokens_parameter,
      apiKeyEnv: entry.api_key_env,
      apiKey: undefined,
    }));
  }
  const problems = result.error.issues.map(({ path: at, message }) => {
    const [index, ...field] = at.map(String);
    return index === undefined ? message : `model ${Number(index) + 1}: ${[...field, message].join(' ')}`;
  });
  throw new Error(`${path}: ${problems.join('; ')}`);
}

/** The models with those of their keys that the environment has. */
export function withModelKeys(models: ConfiguredModel[], env: NodeJS.ProcessEnv): ConfiguredModel[] {
  return models.map((model) => ({ ...model, apiKey: model.apiKeyEnv && env[model.apiKeyEnv] }));
}

/** What keeps the models from being asked: keys that are not set. */
export function missingModelKeys(models: ConfiguredModel[]): string[] {
  return models.flatMap(({ id, apiKeyEnv, apiKey }) =>
    apiKeyEnv !== undefined && !apiKey ? [`model ${id} needs its key in ${apiKeyEnv}, which is not set`] : [],
  );
}

/** Names of the variables that hold keys of models; none when the file cannot be read. */
export function modelKeyNames(path: string | undefined): string[] {
  try {
    return path ? readModelsFile(path).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []) : [];
  } catch {
    return []; // whoever starts with it is told
  }
}

function parsed(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is not JSON`);
  }
}

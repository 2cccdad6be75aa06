import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const fileSchema = z.object({
  em_webhook_secret: z.string().min(1),
  irc_oper_name: z.string().min(1),
  irc_oper_password: z.string().min(1),
  irc_server_password: z.string().min(1),
  irc_services_password: z.string().min(1),
  irc_gateway_password: z.string().min(1),
  /** An operator's key, if none is set on a service that others can reach. */
  api_key: z.string().min(32).optional(),
  /** When a lost webhook secret was replaced. The operator removes this after telling the producers. */
  remade_at: z.string().optional(),
});

/** What an installation without configured secrets uses; generated once per data directory. */
export interface Secrets {
  /** HMAC key of the inbound webhook, 64 hex characters. */
  webhookSecret: string;
  ircOperName: string;
  ircOperPassword: string;
  /** Connect password of our bots. */
  ircServerPassword: string;
  /** The password between the IRC server and the nick service. */
  ircServicesPassword: string;
  /** The gateway's password at the IRC server. The gateway speaks for agents. */
  ircGatewayPassword: string;
}

/** The secrets of a data directory, and what became of them. */
export interface StoredSecrets extends Partial<Secrets> {
  /** When a lost webhook secret was replaced by a new one, in ISO 8601. */
  remadeAt?: string;
}

/**
 * The secrets of `<dataDir>/secrets.json` (mode 0600). Missing ones are generated and written back. `warn` is
 * called if the webhook secret of an event log in use had to be replaced. Rejects if the file exists and
 * cannot be used: new secrets would lock out everyone who knows the old ones.
 */
export async function loadSecrets(
  dataDir: string,
  warn: (text: string) => void = (text) => process.emitWarning(text),
): Promise<Secrets> {
  const file = secretsFile(dataDir);
  const found = await read(file);
  const isRemade = found.em_webhook_secret === undefined && hasLog(dataDir);
  const remade = isRemade ? { remade_at: new Date().toISOString() } : {};
  const complete = fileSchema.loose().parse({ ...generated(), ...found, ...remade });
  if (Object.keys(complete).length !== Object.keys(found).length) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await write(file, `${JSON.stringify(complete, null, 2)}\n`);
    if (isRemade) warn(remadeWarning(file));
  } else {
    await chmod(file, 0o600);
  }
  return {
    webhookSecret: complete.em_webhook_secret,
    ircOperName: complete.irc_oper_name,
    ircOperPassword: complete.irc_oper_password,
    ircServerPassword: complete.irc_server_password,
    ircServicesPassword: complete.irc_services_password,
    ircGatewayPassword: complete.irc_gateway_password,
  };
}

/**
 * The operator's key of `<dataDir>/secrets.json` (mode 0600). A missing key is made and written there.
 * Rejects like `loadSecrets`.
 */
export async function loadOperatorKey(dataDir: string): Promise<string> {
  const file = secretsFile(dataDir);
  const found = await read(file);
  if (found.api_key !== undefined) {
    await chmod(file, 0o600);
    return found.api_key;
  }
  const api_key = randomBytes(32).toString('base64url');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await write(file, `${JSON.stringify({ ...found, api_key }, null, 2)}\n`);
  return api_key;
}

/** The operator's key of a data directory; `undefined` if it has none, or none that can be read. */
export function storedOperatorKey(dataDir: string): string | undefined {
  try {
    return fileSchema
      .partial()
      .loose()
      .parse(JSON.parse(readFileSync(secretsFile(dataDir), 'utf8'))).api_key;
  } catch {
    return undefined;
  }
}

/** Others know only the webhook secret from the file: the rest is between our own servers. */
const remadeWarning = (file: string) =>
  `${file} had no webhook secret although there is an event log, so a new one was made. Unless EM_WEBHOOK_SECRET is set, ` +
  'events that are signed with the old one are refused. Put the old file back and start again, or give the new ' +
  'em_webhook_secret to whoever posts events.';

/** Where the secrets of a data directory are. */
export function secretsFile(dataDir: string): string {
  return join(dataDir, 'secrets.json');
}

/** Whether a data directory has or had an event log, whose producers know a secret. */
export function hasLog(dataDir: string): boolean {
  return existsSync(join(dataDir, 'nats', 'store'));
}

/** The secrets that are stored in a data directory, without making any. Rejects like `loadSecrets`. */
export async function storedSecrets(dataDir: string): Promise<StoredSecrets> {
  const found = await read(secretsFile(dataDir));
  return Object.fromEntries(
    Object.entries({
      webhookSecret: found.em_webhook_secret,
      ircOperName: found.irc_oper_name,
      ircOperPassword: found.irc_oper_password,
      ircServerPassword: found.irc_server_password,
      ircServicesPassword: found.irc_services_password,
      ircGatewayPassword: found.irc_gateway_password,
      remadeAt: found.remade_at,
    }).filter(([, secret]) => secret !== undefined),
  );
}

const generated = () => ({
  em_webhook_secret: randomBytes(32).toString('hex'),
  irc_oper_name: `chanbot-${randomBytes(3).toString('hex')}`,
  irc_oper_password: randomBytes(24).toString('base64url'),
  irc_server_password: randomBytes(24).toString('base64url'),
  irc_services_password: randomBytes(24).toString('base64url'),
  irc_gateway_password: randomBytes(24).toString('base64url'),
});

async function read(
  file: string,
): Promise<{ [Key in keyof z.output<typeof fileSchema>]?: string | undefined }> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    // Loose: fields of a newer release are kept.
    return fileSchema.partial().loose().parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} cannot be read: mend it, or delete it to have new secrets generated`, { cause });
  }
}

async function write(file: string, text: string): Promise<void> {
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const fileSchema = z.object({
  em_webhook_secret: z.string().min(1),
  irc_oper_name: z.string().min(1),
  irc_oper_password: z.string().min(1),
  irc_server_password: z.string().min(1),
  irc_services_password: z.string().min(1),
});

/** What an installation without configured secrets uses; generated once per data directory. */
export interface Secrets {
  /** HMAC key of the inbound webhook, 64 hex characters. */
  webhookSecret: string;
  ircOperName: string;
  ircOperPassword: string;
  /** Connect password of our bots. */
  ircServerPassword: string;
  /** What the IRC server and the nick service show each other. */
  ircServicesPassword: string;
}

/**
 * The secrets of `<dataDir>/secrets.json` (mode 0600); what is missing there is generated and written back.
 * Rejects when the file is there and cannot be used: new secrets would lock out everyone who knows the old ones.
 */
export async function loadSecrets(dataDir: string): Promise<Secrets> {
  const file = join(dataDir, 'secrets.json');
  const found = await read(file);
  const complete = fileSchema.loose().parse({ ...generated(), ...found });
  if (Object.keys(complete).length !== Object.keys(found).length) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await write(file, `${JSON.stringify(complete, null, 2)}\n`);
  } else {
    await chmod(file, 0o600);
  }
  return {
    webhookSecret: complete.em_webhook_secret,
    ircOperName: complete.irc_oper_name,
    ircOperPassword: complete.irc_oper_password,
    ircServerPassword: complete.irc_server_password,
    ircServicesPassword: complete.irc_services_password,
  };
}

/** The secrets that are stored in a data directory, without making any. Rejects like `loadSecrets`. */
export async function storedSecrets(dataDir: string): Promise<Partial<Secrets>> {
  const found = await read(join(dataDir, 'secrets.json'));
  return Object.fromEntries(
    Object.entries({
      webhookSecret: found.em_webhook_secret,
      ircOperName: found.irc_oper_name,
      ircOperPassword: found.irc_oper_password,
      ircServerPassword: found.irc_server_password,
      ircServicesPassword: found.irc_services_password,
    }).filter(([, secret]) => secret !== undefined),
  );
}

const generated = () => ({
  em_webhook_secret: randomBytes(32).toString('hex'),
  irc_oper_name: `chanbot-${randomBytes(3).toString('hex')}`,
  irc_oper_password: randomBytes(24).toString('base64url'),
  irc_server_password: randomBytes(24).toString('base64url'),
  irc_services_password: randomBytes(24).toString('base64url'),
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
    // Loose: what a newer release has written there is kept.
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

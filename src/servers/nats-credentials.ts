import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writePrivateFile } from './private-file.js';

const user = 'relay';
const usable = /^[\w-]{32,}$/;

/** The password that our own nats-server of a data directory asks for; made where there is none yet. */
export function loadNatsPassword(dataDir: string): string {
  const stored = storedNatsPassword(dataDir);
  if (stored !== undefined) return stored;
  // Nobody has to be told of a new one: whoever connects reads it here.
  const password = randomBytes(32).toString('base64url');
  writePrivateFile(passwordFile(dataDir), `${password}\n`);
  return password;
}

/** The address of the nats-server of a data directory, with the credentials that are stored there. */
export function ownNatsUrl(dataDir: string, port: number): string {
  const password = storedNatsPassword(dataDir);
  // without one it is a server that an earlier release has started: it asks for none
  return `nats://${password === undefined ? '' : `${user}:${password}@`}127.0.0.1:${port}`;
}

/**
 * What a nats-server's configuration says of who may connect. They may take five seconds to say who they are: with
 * the usual two a service that is busy while it starts would be turned away.
 */
export function natsAuthorization(password: string): string {
  return `authorization { user: "${user}", password: "${password}", timeout: 5 }\n`;
}

function storedNatsPassword(dataDir: string): string | undefined {
  try {
    const text = readFileSync(passwordFile(dataDir), 'utf8').trim();
    return usable.test(text) ? text : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const passwordFile = (dataDir: string) => join(resolve(dataDir), 'nats', 'password');

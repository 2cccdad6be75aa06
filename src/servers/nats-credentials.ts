import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writePrivateFile } from './private-file.js';

const user = 'relay';
/** May ask the server for its health, and nothing else. */
const healthUser = 'relay-health';
const healthSubject = '$SYS.REQ.SERVER.PING.HEALTHZ';
const healthReply = 'relay.health';
const usable = /^[\w-]{32,}$/;

/** The password of our own nats-server for a data directory; made if it does not exist yet. */
export function loadNatsPassword(dataDir: string): string {
  const stored = storedNatsPassword(dataDir);
  if (stored !== undefined) return stored;
  // Nobody must be told of a new one: whoever connects reads it here.
  const password = randomBytes(32).toString('base64url');
  writePrivateFile(passwordFile(dataDir), `${password}\n`);
  return password;
}

/** The address of the nats-server of a data directory, with the credentials that are stored there. */
export function ownNatsUrl(dataDir: string, port: number): string {
  const password = storedNatsPassword(dataDir);
  // without one, the server was started by an earlier release, which requires none
  return `nats://${password === undefined ? '' : `${user}:${password}@`}127.0.0.1:${port}`;
}

/**
 * The part of a nats-server's configuration about who may connect. Clients have five seconds to authenticate:
 * with the usual two, a service that is busy at its start would be refused. Only the system's account can ask
 * for the server's health.
 */
export function natsAuthorization(password: string): string {
  const permissions = `{ publish: "${healthSubject}", subscribe: "${healthReply}" }`;
  return `authorization { users: [ { user: "${user}", password: "${password}" } ], timeout: 5 }
accounts { $SYS { users: [ { user: "${healthUser}", password: "${password}", permissions: ${permissions} } ] } }
`;
}

/** What a separate connection sends to a nats-server to learn its health. */
export function healthRequest(password: string): string {
  const connect = JSON.stringify({ verbose: false, pedantic: false, user: healthUser, pass: password });
  return `CONNECT ${connect}\r\nSUB ${healthReply} 1\r\nPUB ${healthSubject} ${healthReply} 0\r\n\r\n`;
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

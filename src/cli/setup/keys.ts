import { randomBytes } from 'node:crypto';
import { defineCommand } from '../core/command.js';
import { UsageError } from '../core/failure.js';
import { print } from '../core/terminal.js';

const keyBytes = 32;

/** `relay keys new` */
export const newKeyCommand = defineCommand({
  name: 'keys new',
  arguments: ['[name]'],
  summary: 'Make an API key',
  details:
    'Prints one name:key pair for API_KEYS; several pairs stand there with commas between them. The name stands\n' +
    'for the caller in what is recorded (default: operator). The key is stored nowhere: keep what is printed.',
  async run(invocation) {
    const [name = 'operator'] = invocation.arguments;
    const { json, terminal } = invocation;
    if (!/^[A-Za-z0-9._@-]{1,64}$/.test(name)) {
      throw new UsageError('the name of a key has 1 to 64 letters, digits, dots, hyphens, underscores or @');
    }
    const key = randomBytes(keyBytes).toString('base64url');
    const pair = `${name}:${key}`;
    print(invocation, { name, key, api_keys: pair }, pair);
    if (!json && terminal.isTty) {
      terminal.err(
        'Add this pair to API_KEYS of the service; the caller sends what stands behind the colon as X-Api-Key.',
      );
    }
  },
});

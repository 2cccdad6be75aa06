import { randomBytes } from 'node:crypto';
import { defineCommand, type Invocation, text, wholeNumber } from '../core/command.js';
import { UsageError } from '../core/failure.js';
import { print } from '../core/terminal.js';
import { type Answer, serviceOf, serviceOptions } from '../service/client.js';

const keyBytes = 32;

type Scope = Answer<'/auth/keys'>['keys'][number]['scopes'][number];

/** `relay keys new` */
export const newKeyCommand = defineCommand({
  name: 'keys new',
  arguments: ['[name]'],
  summary: 'Make an API key, or with --nick a key with which an agent acts as that nick',
  details:
    'Prints one name:key pair for API_KEYS; separate several pairs with commas. Records name the\n' +
    'caller by the name (default: operator). The key is stored nowhere: keep what is printed.\n' +
    'With --nick the running service makes the key, and knows it from then on.',
  options: {
    nick: text('NICK', 'the nick that the agent acts as'),
    scopes: text('SCOPES', 'what the agent key is good for, with commas between them'),
    days: wholeNumber('DAYS', 'how long the agent key is good for (default: 90)'),
    ...serviceOptions,
  },
  async run(invocation) {
    const { nick, scopes, days } = invocation.options;
    if (nick !== undefined) return await newAgentKey(invocation, { nick, scopes, days });
    if (scopes !== undefined || days !== undefined)
      throw new UsageError('--scopes and --days are for agent keys: say whose with --nick');
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
        'Add this pair to API_KEYS of the service. The caller sends the part after the colon as X-Api-Key.',
      );
    }
  },
});

async function newAgentKey(
  invocation: Invocation<{ url: string | undefined; key: string | undefined }>,
  asked: { nick: string; scopes: string | undefined; days: number | undefined },
): Promise<void> {
  const { nick, scopes, days } = asked;
  const [name] = invocation.arguments;
  const wanted = scopes
    ?.split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');
  const body = {
    nick,
    ...(name === undefined ? {} : { name }),
    // the service says which there are
    ...(wanted ? { scopes: wanted as Scope[] } : {}),
    ...(days === undefined ? {} : { days }),
  };
  const answer = await serviceOf(invocation, invocation.options).api.post('/auth/keys', { body });
  print(invocation, answer, answer.key);
  if (!invocation.json && invocation.terminal.isTty)
    invocation.terminal.err(`It acts as ${answer.nick} until ${answer.expires_at}, and is shown this once.`);
}

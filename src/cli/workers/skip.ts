import { defineCommand, neededText, wholeNumber } from '../core/command.js';
import { print } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

/** `relay workers skip` */
export const skipWorkCommand = defineCommand({
  name: 'workers skip',
  arguments: ['<name>'],
  summary: 'Let a worker go on without the fact that it cannot take',
  details: 'What is skipped is recorded with its reason and with the name of the key that asked for it.',
  options: {
    seq: { ...wholeNumber('SEQ', 'sequence of the fact, as "relay workers" names it'), needed: true },
    reason: neededText('TEXT', 'why it may be left out'),
    ...serviceOptions,
  },
  async run(invocation) {
    const [name = ''] = invocation.arguments;
    const { options } = invocation;
    const { seq, reason } = options;
    const path = `/ops/workers/${encodeURIComponent(name)}/skip`;
    const answer = await serviceOf(invocation, options).ask('POST', path, { seq, reason });
    print(invocation, answer, `${name} goes on without ${seq}`);
  },
});

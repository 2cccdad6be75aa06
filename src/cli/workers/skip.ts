import { defineCommand, neededNumber, neededText } from '../core/command.js';
import { print } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

/** `relay workers skip` */
export const skipWorkCommand = defineCommand({
  name: 'workers skip',
  arguments: ['<name>'],
  summary: 'Let a worker go on without the fact that it cannot take',
  details: 'What is skipped is recorded with its reason and with the name of the key that asked for it.',
  options: {
    seq: neededNumber('SEQ', 'sequence of the fact, as "relay workers" names it'),
    reason: neededText('TEXT', 'why it may be left out'),
    ...serviceOptions,
  },
  async run(invocation) {
    const [name = ''] = invocation.arguments;
    const { options } = invocation;
    const { seq, reason } = options;
    const answer = await serviceOf(invocation, options).api.post('/ops/workers/{name}/skip', {
      params: { path: { name } },
      body: { seq, reason },
    });
    print(invocation, answer, `${name} goes on without ${seq}`);
  },
});

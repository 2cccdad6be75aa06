import { defineCommand, neededNumber } from '../core/command.js';
import { print } from '../core/terminal.js';
import { serviceOf } from '../service/client.js';
import { skipDetails, skipOptions } from '../service/skip.js';

/** `relay workers skip` */
export const skipWorkCommand = defineCommand({
  name: 'workers skip',
  arguments: ['<name>'],
  summary: 'Let a worker go on without the fact that it cannot take',
  details: skipDetails,
  options: {
    seq: neededNumber('SEQ', 'sequence of the fact, as "relay workers" names it'),
    ...skipOptions,
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

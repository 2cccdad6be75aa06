import { isAheadOfLog } from '../../../projections/core/status.js';
import { defineCommand, neededNumber, neededText } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { print } from '../core/terminal.js';
import { serviceOf } from '../service/client.js';
import { skipDetails, skipOptions } from '../service/skip.js';
import { haltOf, mendHint, statuses } from './status.js';

/** `relay projections skip` */
export const skipCommand = defineCommand({
  name: 'projections skip',
  arguments: ['<name>'],
  summary: 'Let a halted read model go on without the fact that it cannot fold',
  details: skipDetails,
  options: {
    stream: neededText('STREAM', 'stream of the fact'),
    seq: neededNumber('SEQ', 'its sequence, as "relay projections" names it'),
    ...skipOptions,
  },
  async run(invocation) {
    const [name = ''] = invocation.arguments;
    const { options } = invocation;
    const body = { stream: options.stream.toUpperCase(), seq: options.seq, reason: options.reason };
    const service = serviceOf(invocation, options);
    const status = (await statuses(service)).find((one) => one.name === name && isAheadOfLog(one));
    // the service would record it, and the read model halt again: no fact is to blame
    if (status) throw new Failed(haltOf(status), 'ahead_of_log', mendHint(status));
    const params = { path: { name } };
    const answer = await service.api.post('/ops/projections/{name}/skip', { params, body });
    print(invocation, answer, `${name} goes on without ${body.stream} ${body.seq}`);
  },
});

import { z } from 'zod';
import { defineCommand, text } from '../core/command.js';
import { UsageError } from '../core/failure.js';
import { print } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

const Pardoned = z.looseObject({
  id: z.number(),
  nick: z.string(),
  channel: z.string(),
  already: z.boolean(),
});

/** `relay incidents pardon` */
export const pardonCommand = defineCommand({
  name: 'incidents pardon',
  arguments: ['<id>'],
  summary: 'Say that an incident was none: it no longer counts, and what runs because of it ends',
  details: 'What was said stays recorded, and so does the pardon, with the name of the key.',
  options: { reason: text('TEXT', 'why, for those who read it later'), ...serviceOptions },
  async run(invocation) {
    const [id = ''] = invocation.arguments;
    const { options } = invocation;
    if (!/^[1-9]\d{0,14}$/.test(id)) throw new UsageError('<id> must be the number of an incident');
    const service = serviceOf(invocation, options);
    const answer = await service.ask('POST', `/ops/incidents/${id}/pardon`, { reason: options.reason ?? '' });
    const { nick, channel, already } = Pardoned.parse(answer);
    const became = already ? 'was pardoned before' : 'is pardoned';
    print(invocation, answer, `incident ${id} of ${nick} in ${channel} ${became}`);
  },
});

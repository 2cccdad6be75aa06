import { defineCommand, text } from '../core/command.js';
import { UsageError } from '../core/failure.js';
import { print } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

/** `relay incidents pardon` */
export const pardonCommand = decisionCommand('pardon', {
  summary: 'Take an incident back: it no longer counts, and its mute or ban ends',
  details: 'What was said stays recorded, and so does the pardon, with the name of the key.',
  became: (already) => (already ? 'was pardoned before' : 'is pardoned'),
});

/** `relay incidents decline` */
export const declineCommand = decisionCommand('decline', {
  summary: 'Decline an appeal against an incident: it still counts',
  details: 'Whoever appealed is told by a notice, at once or when they are seen again.',
  became: (already) =>
    already ? 'still counts, as was said before' : 'still counts: the appeal is declined',
});

/** A command with which an operator decides about one incident. */
function decisionCommand(
  verb: 'pardon' | 'decline',
  words: { summary: string; details: string; became(already: boolean): string },
) {
  const { summary, details, became } = words;
  return defineCommand({
    name: `incidents ${verb}`,
    arguments: ['<id>'],
    summary,
    details,
    options: { reason: text('TEXT', 'why, for those who read it later'), ...serviceOptions },
    async run(invocation) {
      const [id = ''] = invocation.arguments;
      const { options } = invocation;
      if (!/^[1-9]\d{0,14}$/.test(id)) throw new UsageError('<id> must be the number of an incident');
      const service = serviceOf(invocation, options);
      const answer = await service.api.post(`/ops/incidents/{id}/${verb}`, {
        params: { path: { id: Number(id) } },
        body: { reason: options.reason ?? '' },
      });
      const { nick, channel, already } = answer;
      print(invocation, answer, `incident ${id} of ${nick} in ${channel} ${became(already)}`);
    },
  });
}

import { doctorCommand } from '../doctor/index.js';
import { eventsCommand } from '../log/events.js';
import { streamsCommand } from '../log/streams.js';
import { projectionsCommand, pruneCommand, rebuildCommand, skipCommand } from '../projections/projections.js';
import { replayCommand } from '../projections/replay.js';
import { deadLettersCommand, redriveCommand, showDeadLetterCommand } from '../service/dead-letters.js';
import { emitCommand } from '../service/emit.js';
import { incidentsCommand, pardonCommand } from '../service/incidents.js';
import { mcpCommand } from '../service/mcp.js';
import { redeliverCommand } from '../service/redeliver.js';
import { startCommand } from '../service/start-command.js';
import { dnsCommand } from '../setup/dns.js';
import { newKeyCommand } from '../setup/keys.js';
import { exportCommand } from '../transfer/export.js';
import { importCommand } from '../transfer/import.js';
import type { Command } from './command.js';
import { helpCommand } from './help.js';

/** Every command of `relay`, in the order of the help text. The two that run the whole service load it when they are called. */
export const commands: Command[] = [
  startCommand,
  {
    name: 'demo',
    summary: 'Show the life of some tasks, from webhook to IRC, and end',
    details:
      'Plays on the service that runs where the configuration says. When none does, or with --own, it starts one of\n' +
      'its own in a temporary folder and removes it afterwards.',
    options: { own: { says: 'start a service for the demo even if one runs' } },
    run: async (invocation) => (await import('../demo/index.js')).demo(invocation),
  },
  emitCommand,
  streamsCommand,
  eventsCommand,
  projectionsCommand,
  rebuildCommand,
  skipCommand,
  pruneCommand,
  replayCommand,
  deadLettersCommand,
  showDeadLetterCommand,
  redriveCommand,
  redeliverCommand,
  incidentsCommand,
  pardonCommand,
  exportCommand,
  importCommand,
  doctorCommand,
  newKeyCommand,
  dnsCommand,
  mcpCommand,
  helpCommand(() => commands),
];

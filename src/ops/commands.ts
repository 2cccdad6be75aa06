import type { Command } from './command.js';
import { deadLettersCommand, redriveCommand, showDeadLetterCommand } from './dead-letters.js';
import { dnsCommand } from './dns.js';
import { doctorCommand } from './doctor/index.js';
import { emitCommand } from './emit.js';
import { eventsCommand } from './events.js';
import { exportCommand } from './export.js';
import { helpCommand } from './help.js';
import { importCommand } from './import.js';
import { incidentsCommand, pardonCommand } from './incidents.js';
import { newKeyCommand } from './keys.js';
import { mcpCommand } from './mcp.js';
import { projectionsCommand, pruneCommand, rebuildCommand, skipCommand } from './projections.js';
import { redeliverCommand } from './redeliver.js';
import { replayCommand } from './replay.js';
import { startCommand } from './start-command.js';
import { streamsCommand } from './streams.js';

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
    run: async (invocation) => (await import('./demo.js')).demo(invocation),
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

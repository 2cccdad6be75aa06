import type { Command } from './core/command.js';
import { completionCommand } from './core/completion.js';
import { helpCommand } from './core/help.js';
import { deadLettersCommand } from './delivery/dead-letters.js';
import { redeliverCommand } from './delivery/redeliver.js';
import { redriveCommand } from './delivery/redrive.js';
import { showDeadLetterCommand } from './delivery/show.js';
import { demoCommand } from './demo/index.js';
import { doctorCommand } from './doctor/index.js';
import { emitCommand } from './events/emit.js';
import { eventsCommand } from './log/events.js';
import { streamsCommand } from './log/streams.js';
import { declineCommand, pardonCommand } from './moderation/decisions.js';
import { incidentsCommand } from './moderation/incidents.js';
import { projectionsCommand } from './projections/list.js';
import { pruneCommand } from './projections/prune.js';
import { rebuildCommand } from './projections/rebuild.js';
import { replayCommand } from './projections/replay.js';
import { skipCommand } from './projections/skip.js';
import { mcpCommand } from './service/mcp.js';
import { startCommand } from './service/start.js';
import { listKeysCommand, revokeKeyCommand } from './setup/agent-keys.js';
import { dnsCommand } from './setup/dns.js';
import { newKeyCommand } from './setup/keys.js';
import { exportCommand } from './transfer/export.js';
import { importCommand } from './transfer/import.js';
import { workersCommand } from './workers/list.js';
import { skipWorkCommand } from './workers/skip.js';

/** Every command of `relay`, in the order of the help text. */
export const commands: Command[] = [
  startCommand,
  demoCommand,
  emitCommand,
  streamsCommand,
  eventsCommand,
  projectionsCommand,
  rebuildCommand,
  skipCommand,
  pruneCommand,
  replayCommand,
  workersCommand,
  skipWorkCommand,
  deadLettersCommand,
  showDeadLetterCommand,
  redriveCommand,
  redeliverCommand,
  incidentsCommand,
  pardonCommand,
  declineCommand,
  exportCommand,
  importCommand,
  doctorCommand,
  newKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  dnsCommand,
  mcpCommand,
  completionCommand(() => commands),
  helpCommand(() => commands),
];

import { eventTerms } from '../../src/app/areas/doors.js';
import { readConfig } from '../../src/config/config.js';
import { ToolTable, toolsOf } from '../../src/mcp/tools.js';
import { operations } from '../../src/operations/index.js';
import { type Doors, doorsOf } from '../../src/pages/discovery/doors.js';

/** The tools as the service lists them; what they would ask is never asked here. */
export const table = new ToolTable(toolsOf(operations, async () => undefined as never));

/** The doors of a service at an address, with the tools that there are. */
export function doorsAt(publicUrl: string, { oauth = true } = {}): Doors {
  return doorsOf({
    publicUrl,
    irc: 'ircs://irc.example:6697',
    lobby: 'lobby',
    tiers: { keyed: table.counts('keyed'), 'wallet-read': table.counts('wallet-read') },
    tools: table.list('keyed'),
    events: eventTerms(readConfig({})),
    oauth,
  });
}

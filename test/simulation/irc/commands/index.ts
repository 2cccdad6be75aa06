import { channels } from './channels.js';
import type { Command } from './command.js';
import { modes } from './modes.js';
import { forcing, operators } from './operators.js';
import { queries } from './queries.js';
import { registration } from './registration.js';

/** Everything that clients may say, by its word. */
export const commands: Record<string, Command> = {
  ...registration,
  ...queries,
  ...channels,
  ...modes,
  ...operators,
  ...Object.fromEntries(
    Object.entries(forcing).map(([word, run]): [string, Command] => [
      word,
      (of) => {
        if (of.server.kind.forces) run(of);
        else of.client.numeric('421', of.command, 'Unknown command');
      },
    ]),
  ),
};

import type { Command } from '../core/command.js';

/** Runs the service; on its own in a file, so that nothing else has to be loaded before the servers are started. */
export const startCommand: Command = {
  name: 'start',
  summary: 'Run the service until Ctrl-C',
  details: 'The same as npm start. A second Ctrl-C ends it at once.',
  run: async (invocation) => (await import('./start.js')).start(invocation),
};

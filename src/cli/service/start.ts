import { defineCommand } from '../core/command.js';

/** `relay start`; on its own in a file, so that nothing else has to be loaded before the servers are started. */
export const startCommand = defineCommand({
  name: 'start',
  summary: 'Run the service until Ctrl-C',
  details: 'The same as npm start. A second Ctrl-C ends it at once.',
  run: async (invocation) => (await import('./run.js')).runService(invocation),
});

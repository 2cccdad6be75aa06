import { defineCommand, flag } from '../core/command.js';

/** `relay demo`. What it plays is loaded when it is called: it runs a whole service. */
export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'Show the life of some tasks, from webhook to IRC, and end',
  details:
    'Plays on the service that runs where the configuration says. When none does, or with --own, it starts one of\n' +
    'its own in a temporary folder and removes it afterwards. What it plays stays on record: where others may use\n' +
    'the service it asks before it does anything.',
  options: {
    own: flag('start a service for the demo even if one runs'),
    yes: flag('do not ask'),
  },
  run: async (invocation) => (await import('./play.js')).demo(invocation),
});

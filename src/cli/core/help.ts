import { type Command, defineCommand } from './command.js';
import { UsageError } from './failure.js';
import { Program } from './program.js';

/** The command that tells of all of them, itself included. */
export function helpCommand(commands: () => Command[]): Command {
  return defineCommand({
    name: 'help',
    arguments: ['[command]', '[subcommand]'],
    summary: 'Say what the commands do and how they are used',
    async run({ arguments: words, json, terminal }) {
      const wanted = Program.of(commands(), { terminal, json, act: async () => {} }).find(words);
      if (!wanted) throw new UsageError(`there is no command "${words.join(' ')}"`);
      if (!json) wanted.outputHelp();
      else
        terminal.out(JSON.stringify([...(wanted.definition ? [wanted] : []), ...wanted.all].map(described)));
    },
  });
}

function described({ definition, usageLine }: Program) {
  const { name, summary, arguments: names = [], options = {} } = definition!;
  return { name, summary, usage: usageLine, arguments: names, options };
}

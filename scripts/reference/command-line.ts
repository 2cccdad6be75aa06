import { commands } from '../../src/cli/commands.js';
import { Program } from '../../src/cli/core/program.js';
import { head } from './page.js';

const terminal = { out: () => {}, err: () => {}, columns: 120, colours: false };

/** Every command of `relay`, with its help. */
export function commandLinePage(): string {
  const program = Program.of(commands, { terminal, json: false, act: async () => {} });
  const sections = program.all.map((command) => {
    const help = command.helpInformation().trim();
    return `## relay ${command.path}\n\n\`\`\`text\n${help}\n\`\`\`\n`;
  });
  const intro = `Run a command in the folder of the project with \`bin/relay\`, or with \`npx relay\` where the package is installed. Every command takes \`--help\`. With \`--json\` it prints results
and problems for programs. Exit codes are 0 for done, 1 for failed, 2 for wrong usage or configuration.
`;
  return [head('Command line', 'src/cli', intro), ...sections].join('\n').replace(/\n{3,}/g, '\n\n');
}

import { type Command, defineCommand } from './command.js';
import { UsageError } from './failure.js';
import { Program } from './program.js';

/** The command that prints a script for shells, which completes all commands. */
export function completionCommand(commands: () => Command[]): Command {
  return defineCommand({
    name: 'completion',
    arguments: ['<shell>'],
    summary: 'Print what lets bash, zsh or fish complete these commands',
    details:
      'Have the shell read it when it starts:\n' +
      '  bash  source <(relay completion bash)\n' +
      '  zsh   source <(relay completion zsh)    (after compinit)\n' +
      '  fish  relay completion fish | source',
    async run({ arguments: [shell = ''], terminal, json }) {
      const script = scripts[shell];
      if (!script) throw new UsageError(`there is no completion for "${shell}": bash, zsh, fish`);
      const program = Program.of(commands(), { terminal, json, act: async () => {} });
      terminal.out(script(placesOf(program)));
    },
  });
}

/** What can follow some words of a command line. */
interface Place {
  /** The words after `relay`, separated by blanks. */
  path: string;
  words: { name: string; summary: string }[];
  options: { name: string; says: string; takesValue: boolean }[];
}

function placesOf(program: Program): Place[] {
  const helper = program.createHelp();
  const place = {
    path: program.parent ? program.path : '',
    words: helper.visibleCommands(program).map((child) => ({ name: child.name(), summary: child.summary() })),
    options: helper.visibleOptions(program).map(({ long, description, optional }) => {
      return { name: long!, says: description, takesValue: optional };
    }),
  };
  return [place, ...(helper.visibleCommands(program) as Program[]).flatMap(placesOf)];
}

const scripts: Record<string, (places: Place[]) => string> = {
  bash: bashScript,
  zsh: (places) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(places)}`,
  fish: (places) => ['complete -c relay -f', ...places.flatMap(fishLines)].join('\n'),
};

/** After an option with a value, the shell itself offers files. */
function bashScript(places: Place[]): string {
  const valued = new Set(
    places.flatMap(({ options }) => options.flatMap(({ name, takesValue }) => (takesValue ? [name] : []))),
  );
  const known = places.map(({ path, words, options }) => {
    const offered = [...words, ...options].map(({ name }) => name).join(' ');
    return `    '${path}') offered='${offered}' ;;`;
  });
  return `_relay() {
  local at='' offered='' word
  local paths=' ${places.map(({ path }) => path.replace(' ', '/')).join(' ')} '
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -* && $paths == *" \${at:+$at/}$word "* ]] && at="\${at:+$at/}$word"
  done
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${[...valued].join('|')}) return ;;
  esac
  case "\${at/\\// }" in
${known.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _relay relay`;
}

function fishLines({ path, words, options }: Place): string[] {
  const [first, second] = path.split(' ');
  const seen = [first, second].filter(Boolean).map((word) => `__fish_seen_subcommand_from ${word}`);
  const where = seen.length > 0 ? seen.join('; and ') : '__fish_use_subcommand';
  const line = (rest: string, says: string) =>
    `complete -c relay -n '${where}' ${rest} -d '${says.replaceAll("'", "\\'")}'`;
  return [
    ...words.map(({ name, summary }) => line(`-a ${name}`, summary)),
    ...options.map(({ name, says, takesValue }) =>
      line(`-l ${name.slice(2)}${takesValue ? ' -r -F' : ''}`, says),
    ),
  ];
}

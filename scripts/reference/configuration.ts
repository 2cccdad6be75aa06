import { readFileSync } from 'node:fs';
import { code, head, table } from './page.js';

interface Setting {
  names: string[];
  defaults: string[];
  says: string;
}

/** Every setting, in the sections of `.env.example`. */
export function configurationPage(): string {
  const [, ...sections] = readFileSync('.env.example', 'utf8').split(/^## /m);
  const intro = `Settings are environment variables, or lines of a file \`.env\` in the folder where the service starts. The environment wins
over \`.env\`. Lists have commas between their parts. A wrong value is named at the start, and the service does not start.
\`bin/relay doctor\` names what is no setting: any such name in \`.env\`, and in the environment those much like a setting of five
letters or more.
`;
  const tables = sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const rows = settingsOf(lines).map(({ names, defaults, says }) => [
      names.map(code).join(', '),
      defaults.map((text) => code(text) || 'empty').join(', '),
      says,
    ]);
    return `## ${title}\n\n${table(['setting', 'default', 'meaning'], rows)}`;
  });
  return [head('Settings', '.env.example', intro), ...tables].join('\n');
}

/** Settings below one comment belong together. */
function settingsOf(lines: string[]): Setting[] {
  const settings: Setting[] = [];
  let says: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    const [, name, value = ''] = /^#?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name === undefined) {
      if (isOpen) says = [];
      isOpen = false;
      if (line.startsWith('# ')) says.push(line.slice(2));
      continue;
    }
    if (!isOpen) settings.push({ names: [], defaults: [], says: says.join(' ') });
    isOpen = true;
    settings.at(-1)!.names.push(name);
    settings.at(-1)!.defaults.push(value);
  }
  return settings;
}

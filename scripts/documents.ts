import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that hold no documents of ours. */
const others = /^(node_modules|dist|dist\.new|data|\.tools|\.tap|\.compiled|\.git)$/;

/** Every Markdown file of the project, in order of their paths. */
export function documents(folder = '.'): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return others.test(entry.name) ? [] : documents(path);
      return entry.name.endsWith('.md') ? [path] : [];
    })
    .sort();
}

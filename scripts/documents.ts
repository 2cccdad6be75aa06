import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that hold no files of ours. */
const others = /^(node_modules|dist|dist\.new|data|\.tools|\.tap|\.compiled|\.git)$/;

/** The folders with our sources. */
const rooms = ['streams', 'projections', 'workers', 'src', 'bench', 'examples', 'scripts', 'test'];
/** Sources that are made from the API's description. */
const made = 'src/client/api.ts';

/** Every Markdown file of the project, in order of their paths. */
export function documents(folder = '.'): string[] {
  return filesIn(folder, /\.md$/);
}

/** Settings and programs of the project with comments after `#`. */
export const settings = [
  '.env.example',
  'Dockerfile',
  'docker-compose.yml',
  'nats.conf',
  'nats.compose.conf',
  'nats.compose-cluster.conf',
  'scripts/compose-env',
  'scripts/setup',
];

/** Every source of the project that somebody writes, room by room and in order of their paths. */
export function sources(): string[] {
  return rooms.flatMap((room) => filesIn(room, /\.(ts|mjs)$/)).filter((file) => file !== made);
}

function filesIn(folder: string, name: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return others.test(entry.name) ? [] : filesIn(path, name);
      return name.test(entry.name) ? [path] : [];
    })
    .sort();
}

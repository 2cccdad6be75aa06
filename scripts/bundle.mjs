// Joins the programs with the packages that they use into few files: of a thousand small ones, finding and reading
// takes node longer than all else about a start. Usage: scripts/bundle.mjs DIRECTORY
import { build } from 'esbuild';

await build({
  entryPoints: ['src/main.ts', 'src/cli.ts', 'src/servers/run-inspircd.ts'],
  outdir: process.argv[2],
  outbase: '.',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.9',
  // reads its own files beside itself
  external: ['@electric-sql/pglite'],
  // packages that are CommonJS ask for node's own modules with it
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});

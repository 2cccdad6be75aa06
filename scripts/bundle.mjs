// Joins the programs with their packages into few files: with a thousand small ones, node spends most of a
// start on finding and reading them. Usage: scripts/bundle.mjs DIRECTORY
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
  // the first reads its own files from its folder; the others are for the demo alone, which installs them
  external: ['@electric-sql/pglite', '@x402/evm', '@x402/fetch'],
  // CommonJS packages load node's own modules with it
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});

// Joins the programs with their packages into few files: with a thousand small ones, node spends most of a
// start on finding and reading them. The client becomes one file without its packages, which its users have.
// Usage: scripts/bundle.mjs DIRECTORY
import { build } from 'esbuild';

const common = {
  outdir: process.argv[2],
  outbase: '.',
  bundle: true,
  format: 'esm',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
};

await build({
  ...common,
  entryPoints: ['src/client/index.ts'],
  platform: 'neutral',
  target: 'es2022',
  packages: 'external',
});

await build({
  ...common,
  entryPoints: ['src/main.ts', 'src/cli.ts', 'src/servers/run-inspircd.ts', 'projections/catch-up.ts'],
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  platform: 'node',
  target: 'node20.9',
  // the first reads its own files from its folder; the others are for the demo alone, which installs them
  external: ['@electric-sql/pglite', '@x402/evm', '@x402/fetch'],
  // CommonJS packages load node's own modules with it
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
});

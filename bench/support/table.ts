import { cpus, totalmem } from 'node:os';
import { findInspircd, findNatsServer } from '../../src/servers/binaries.js';
import type { Row } from './bench.js';

/** The tables of docs/explanation/benchmarks.md, for these rows and this machine, as Markdown. */
export function markdown(rows: Row[], at: Date): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const version = (text: string) => /\d+\.\d+/.exec(text)?.[0] ?? text;
  const intro = [
    '## Measured',
    '',
    `\`npm run bench\`, ${at.toISOString().slice(0, 10)}, ${cpus().length} cores and ${memory} GiB shared with the load generator and all servers,`,
    `Node ${version(process.versions.node)}, nats-server ${version(findNatsServer().version)} with \`sync_interval: always\` (logs that are only read from are filled without it),`,
    `InspIRCd ${version(findInspircd().version)}, a PostgreSQL that syncs each commit. Each figure is next to its floor, the least that the`,
    'parts alone need, or beside a peer, from the same run. Absolute figures move with the machine; ratios are what',
    'to look at.',
  ];
  const lines = rows.map(({ measured, ours, against, ratio, goal }) => {
    const compared = typeof ratio === 'number' ? ratio.toFixed(2) : ratio;
    return `| ${[measured, ours, against, compared ?? '–', goal ?? ''].join(' | ')} |`;
  });
  return [
    ...intro,
    '',
    '| measured | ours | floor or peer | ratio | goal |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

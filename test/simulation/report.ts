import type { Summary } from './campaign.js';
import type { Run } from './scenario.js';

/** The command that repeats a run exactly, here and on any other machine. */
export function commandFor({ scenario, seed }: Pick<Run, 'scenario' | 'seed'>): string {
  return `npm run simulate -- --only ${scenario} --seed ${seed}`;
}

/** What was wrong, in a few lines. */
export function failureText(run: Run, most = 5): string {
  const rest = run.broken.length - most;
  return [
    `${run.scenario}, seed ${run.seed}. Repeat it with: ${commandFor(run)}`,
    ...run.broken.slice(0, most).map((what) => `  ${what}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join('\n');
}

/** What each part did and when, in simulated milliseconds since the world began. */
export function timelineText({ timeline }: Pick<Run, 'timeline'>): string {
  const width = Math.max(4, ...timeline.map(({ who }) => who.length));
  return timeline
    .map(({ at, who, what }) => `${at.toFixed(1).padStart(10)}  ${who.padEnd(width)}  ${what}`)
    .join('\n');
}

/** The steps that were planned, one a line. */
export function plannedText({ planned }: Pick<Run, 'planned'>): string {
  return [...planned]
    .sort((a, b) => a.at - b.at)
    .map(({ at, what }) => `${at.toFixed(1).padStart(10)}  ${what}`)
    .join('\n');
}

/** How far a campaign is, in one line; `elapsedMs` of real time since it began. */
export function progressText(so: Summary, elapsedMs: number): string {
  const seeds = sum(so.runs);
  const perMinute = Math.round(seeds / (elapsedMs / 60_000));
  const minutes = `${Math.floor(elapsedMs / 60_000)}:${String(Math.floor(elapsedMs / 1_000) % 60).padStart(2, '0')}`;
  return `${minutes}  ${seeds} seeds, ${perMinute} a minute, ${sum(so.faults)} faults, ${sum(so.checks)} checks, ${so.failures.length} broken`;
}

/** Seeds and what they cost for each scenario, then all that was counted, one a line. */
export function summaryText(so: Summary): string {
  const perMinute = (runs: number, seconds: number) =>
    String(Math.round((60 * runs) / Math.max(seconds, 0.001)));
  const row = (name: string, runs: number, seconds: number) => [
    ...[name, String(runs), seconds.toFixed(1), perMinute(runs, seconds)],
  ];
  const counted = (title: string, of: Record<string, number>) =>
    table([
      [title, String(sum(of))],
      ...Object.entries(of)
        .sort(([, a], [, b]) => b - a)
        .map(([name, times]) => [`  ${name}`, String(times)]),
    ]);
  return [
    `${sum(so.runs)} seeds, ${so.failures.length} broken`,
    table([
      ['scenario', 'seeds', 'CPU seconds', 'seeds a minute of one core'],
      ...Object.entries(so.runs).map(([name, runs]) => row(`  ${name}`, runs, so.seconds[name] ?? 0)),
      row('  all', sum(so.runs), sum(so.seconds)),
    ]),
    counted('faults', so.faults),
    counted('checks', so.checks),
    table([['counted'], ...Object.entries(so.counts).map(([name, times]) => [`  ${name}`, String(times)])]),
  ].join('\n\n');
}

function sum(of: Record<string, number>): number {
  return Object.values(of).reduce((all, one) => all + one, 0);
}

/** Rows whose columns are under each other: the first one to the left, numbers to the right. */
function table(rows: readonly string[][]): string {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, place) => Math.max(cell.length, all[place] ?? 0)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, place) => (place === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[place]!)))
        .join('  '),
    )
    .map((line) => line.trimEnd())
    .join('\n');
}

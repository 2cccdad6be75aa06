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

/** Seeds and their speed for each scenario, then all that was counted. */
export function summaryText(so: Summary): string {
  const sum = (of: Record<string, number>) => Object.values(of).reduce((all, one) => all + one, 0);
  const list = (of: Record<string, number>) =>
    Object.entries(of)
      .sort(([, a], [, b]) => b - a)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ');
  const perScenario = Object.entries(so.runs).map(([name, runs]) => {
    const perMinute = Math.round((60 * runs) / Math.max(so.seconds[name] ?? 0, 0.001));
    return `  ${name}: ${runs} seeds, ${perMinute} a minute`;
  });
  return [
    `${sum(so.runs)} seeds in ${sum(so.seconds).toFixed(0)} s, ${so.failures.length} broken`,
    ...perScenario,
    `  ${sum(so.faults)} faults: ${list(so.faults)}`,
    `  ${sum(so.checks)} checks: ${list(so.checks)}`,
    `  counted: ${list(so.counts)}`,
  ].join('\n');
}

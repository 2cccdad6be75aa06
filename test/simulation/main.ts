import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Summary } from './campaign.js';
import { runInProcesses } from './processes.js';
import { failureText, plannedText, progressText, summaryText, timelineText } from './report.js';
import { play, type Run, type Scenario } from './scenario.js';
import { scenarios } from './scenarios/index.js';
import { shrink } from './shrink.js';

const usage = `npm run simulate -- [--seeds N | --minutes M] [--from SEED] [--only NAME]... [--seed SEED] [--jobs N] [--keep-going]

Plays the product's own code through bad days that a seed decides, and judges each.

  --seeds N      so many fresh seeds of each scenario (1000), after those that are kept
  --minutes M    as many fresh seeds as fit in so many minutes, after those that are kept
  --from SEED    the first fresh seed; without it one is drawn, and printed
  --only NAME    only this scenario; may be given more than once
  --seed SEED    plays this one seed and prints its timeline; broken, its smallest history
  --jobs N       so many processes share the seeds (one for each processor)
  --keep-going   goes on after a seed that is broken

Scenarios:
${scenarios.map(({ name, says }) => `  ${name.padEnd(14)} ${says}`).join('\n')}`;

const say = (text: string) => void process.stdout.write(`${text}\n`);

/** The progress of a campaign: on a terminal one line that is rewritten, elsewhere a line now and then. */
class Progress {
  readonly #began = performance.now();
  readonly #isTerminal = process.stdout.isTTY;
  readonly #everyMs = this.#isTerminal ? 500 : 10_000;
  #toldAt = this.#began;

  tell(so: Summary): void {
    const now = performance.now();
    if (now - this.#toldAt < this.#everyMs) return;
    this.#toldAt = now;
    const text = progressText(so, now - this.#began);
    if (this.#isTerminal) process.stdout.write(`\r\x1b[K${text}`);
    else say(text);
  }

  /** Prints something else, in place of the line. */
  interrupt(text: string): void {
    say(this.#isTerminal ? `\r\x1b[K${text}` : text);
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\nWhat there is to say: npm run simulate -- --help\n`);
  process.exit(2);
}

// whoever reads has seen enough
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

function read() {
  const args = process.argv.slice(2);
  const negative = args.findIndex((one) => /^-\d/.test(one));
  if (negative >= 0) fail(`${args[negative - 1] ?? 'It'} takes no number below 0, such as ${args[negative]}`);
  try {
    return parseArgs({
      args,
      options: {
        seeds: { type: 'string' },
        minutes: { type: 'string' },
        from: { type: 'string' },
        only: { type: 'string', multiple: true, default: [] },
        seed: { type: 'string' },
        jobs: { type: 'string' },
        'keep-going': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    fail((error as Error).message);
  }
}

/** The whole number of an option, or `undefined` without the option. */
function wholeNumber(name: 'seeds' | 'from' | 'seed' | 'jobs'): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  const least = name === 'jobs' ? 1 : 0;
  if (!/^\d{1,10}$/.test(text) || number < least || number > 0xffff_ffff)
    fail(`--${name} takes a whole number from ${least} to 4294967295, not '${text}'`);
  return number;
}

const options = read();
if (options.help) {
  say(usage);
  process.exit(0);
}
const unknown = options.only.find((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown !== undefined)
  fail(`There is no scenario '${unknown}'. There are: ${scenarios.map(({ name }) => name).join(', ')}`);
const chosen = scenarios.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
refuseBoth('seed', ['seeds', 'minutes', 'from', 'jobs', 'keep-going']);
refuseBoth('seeds', ['minutes']);
const seed = wholeNumber('seed');
if (seed === undefined) await campaign();
else if (chosen.length > 1) fail('--seed needs --only: the same seed is another run in each scenario');
else await one(chosen[0]!, seed);

/** Refuses options that leave no room for each other. */
function refuseBoth(one: keyof typeof options, others: readonly (keyof typeof options)[]): void {
  const other = others.find((name) => options[name] !== undefined && options[name] !== false);
  if (options[one] !== undefined && other) fail(`--${one} and --${other} cannot both be given`);
}

async function campaign(): Promise<void> {
  const minutes = options.minutes === undefined ? undefined : Number(options.minutes);
  if (minutes !== undefined && !(minutes > 0))
    fail(`--minutes takes a number above 0, not '${options.minutes}'`);
  const seeds = wholeNumber('seeds') ?? (minutes === undefined ? 1_000 : undefined);
  const jobs = Math.min(
    wholeNumber('jobs') ?? availableParallelism(),
    Math.max(1, seeds ?? Number.POSITIVE_INFINITY),
  );
  const firstSeed = wholeNumber('from') ?? Math.floor(Math.random() * 2 ** 31);
  const kept = chosen.reduce((sum, scenario) => sum + scenario.kept.length, 0);
  if (kept > 0) say(`first those that are kept because they once broke: ${kept}`);
  say(`fresh seeds from ${firstSeed} on; the same again with --from ${firstSeed}`);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  const progress = new Progress();
  const so = await runInProcesses(jobs, {
    scenarios: chosen,
    firstSeed,
    signal: stop.signal,
    goOn: options['keep-going'],
    ...(seeds === undefined ? {} : { seeds }),
    ...(minutes === undefined ? {} : { budgetMs: minutes * 60_000 }),
    ran: (run, _seconds, so) => {
      progress.tell(so);
      if (run.broken.length > 0) progress.interrupt(failureText(run));
    },
  });
  if (stop.signal.aborted) progress.interrupt('stopped before the last seed');
  progress.interrupt(summaryText(so));
  const [failure] = so.failures;
  if (!failure) return;
  process.exitCode = 1;
  const scenario = chosen.find(({ name }) => name === failure.scenario)!;
  await tellSmallest(scenario, await play(scenario, failure.seed));
}

async function one(scenario: Scenario, number: number): Promise<void> {
  const run = await play(scenario, number);
  if (run.broken.length === 0) {
    say(`what happened, with the simulated time in milliseconds:\n${timelineText(run)}`);
    const checks = Object.values(run.checks).reduce((sum, times) => sum + times, 0);
    say(`\n${scenario.name}, seed ${number}: all invariants hold, in ${checks} checks`);
    return;
  }
  process.exitCode = 1;
  await tellSmallest(scenario, run);
}

/** Finds a small history that breaks in the same way, and prints it. */
async function tellSmallest(scenario: Scenario, failing: Run): Promise<void> {
  say(`\nlooking for a smaller history of ${failing.planned.length} planned steps`);
  const smallest = await shrink(scenario, failing, {
    told: ({ left, runs }) => say(`  ${left} steps are left after ${runs} runs`),
  });
  say(`\ntimeline of the smallest history that was found:\n${timelineText(smallest)}`);
  say(`\nits planned steps:\n${plannedText(smallest)}\n`);
  say(failureText(smallest, 20));
}

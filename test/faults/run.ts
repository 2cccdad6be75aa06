import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { type Fault, randomFrom, type Size } from './fault.js';
import { faults } from './index.js';
import { Endings, type Played, play } from './play.js';
import { Stage } from './stage.js';

const usage = `npm run faults -- [--only <fault>,…] [--short] [--seed <n>] [--events <n>] [--times <n>]
                  [--duration <n>s|m] [--json <file>|-]
Strikes real servers with real faults while events come in, and judges every event afterwards.
Exits with 0 when all held, 1 when something did not, 2 for wrong usage.`;

/** What was wrong with a run that could not be finished. */
interface Aborted {
  fault: string;
  violations: string[];
}

const options = {
  only: { type: 'string' },
  short: { type: 'boolean' },
  seed: { type: 'string', default: '1' },
  events: { type: 'string' },
  times: { type: 'string' },
  duration: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean' },
} as const;

process.exit(await main());

async function main(): Promise<number> {
  const given = readArguments();
  if (typeof given === 'number') return given;
  const { chosen, values } = given;
  const toStdout = values.json === '-';
  const say = (text: string) => (toStdout ? console.error(text) : console.log(text));
  const memory = Math.round(totalmem() / 2 ** 30);
  const place = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${memory} GiB, Node ${process.versions.node}, seed ${values.seed}`;
  say(place);
  const results: (Played | Aborted)[] = [];
  for (const [index, fault] of chosen.entries()) {
    const reason = fault.impossible?.();
    say(`[${index + 1}/${chosen.length}] ${fault.name}: ${reason ? `left out, ${reason}` : fault.what} …`);
    if (reason) continue;
    const result = await run(fault, sizeOf(fault, values), Number(values.seed));
    results.push(result);
    say(`    ${'times' in result ? summary(result) : 'ended early'}`);
    for (const violation of result.violations) say(`    NOT HELD: ${violation}`);
  }
  say(`\n${table(results)}`);
  if (values.json !== undefined) {
    const text = `${JSON.stringify({ place, results }, null, 2)}\n`;
    if (toStdout) process.stdout.write(text);
    else writeFileSync(values.json, text);
  }
  return results.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function readArguments() {
  try {
    const { values } = parseArgs({ options });
    if (values.help) {
      console.log(usage);
      return 0;
    }
    const names = values.only?.split(',') ?? faults.map(({ name }) => name);
    const chosen = names.map((name) => {
      const fault = faults.find((fault) => fault.name === name);
      if (!fault) throw new Error(`no fault ${name}: there are ${faults.map(({ name }) => name).join(', ')}`);
      return fault;
    });
    for (const name of ['seed', 'events', 'times'] as const) {
      if (values[name] !== undefined && !/^\d+$/.test(values[name])) throw new Error(`--${name} is a number`);
    }
    secondsOf(values.duration);
    return { chosen, values };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
}

function sizeOf(
  fault: Fault,
  values: { short?: boolean; events?: string; times?: string; duration?: string },
): Size {
  const size = values.short ? fault.short : fault.long;
  const seconds = secondsOf(values.duration);
  return {
    ...size,
    ...(values.events ? { events: Number(values.events) } : {}),
    ...(values.times ? { times: Number(values.times) } : {}),
    ...(seconds && size.seconds ? { seconds } : {}),
  };
}

function secondsOf(duration: string | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const [, number, unit] = /^(\d+)(s|m)$/.exec(duration) ?? [];
  if (!number) throw new Error('--duration is a number of seconds or minutes, such as 90s or 20m');
  return Number(number) * (unit === 'm' ? 60 : 1);
}

async function run(fault: Fault, size: Size, seed: number): Promise<Played | Aborted> {
  const endings = new Endings();
  try {
    const stage = await Stage.open(endings, randomFrom(seed), fault.stage?.(size));
    stage.judgesTimes = true;
    // on a terminal only, and always in the same place
    stage.progress = (where) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K    ${where}`));
    return await play(stage, fault, size);
  } catch (error) {
    return { fault: fault.name, violations: [(error as Error).stack ?? String(error)] };
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    await endings.end();
  }
}

function summary(played: Played): string {
  const { events, lines, lost, twice, outOfOrder, dead, expired, recoveryMs, memoryMb, seconds } = played;
  const recovery = recoveryMs ? `, back in ${recoveryMs.median} ms (longest ${recoveryMs.longest})` : '';
  const notes = Object.entries(played.notes).map(([name, value]) => `, ${name} ${value}`);
  return `${events} events, ${lines} lines: lost ${lost.length}, twice ${twice.length}, out of order ${outOfOrder.length}, dead ${dead}, expired ${expired}${recovery}, memory ${memoryMb} MB, ${seconds} s${notes.join('')}`;
}

function table(results: (Played | Aborted)[]): string {
  const head = [
    '| fault | times | events | lost | twice | out of order | recovery ms, median (longest) | memory MB |',
    '|---|---|---|---|---|---|---|---|',
  ];
  const rows = results.map((result) => {
    if (!('times' in result)) return `| ${result.fault} | ended early | | | | | | |`;
    const { fault, times, events, lost, twice, outOfOrder, recoveryMs, memoryMb } = result;
    const recovery = recoveryMs ? `${recoveryMs.median} (${recoveryMs.longest})` : '';
    return `| ${fault} | ${times} | ${events} | ${lost.length} | ${twice.length} | ${outOfOrder.length} | ${recovery} | ${memoryMb} |`;
  });
  return [...head, ...rows].join('\n');
}

import { parseArgs } from 'node:util';
import { fuzz, type Outcome } from './fuzz.js';

const usage = `npm run fuzz            FUZZ_SEED=<n> FUZZ_REQUESTS=<n> FUZZ_ONLY=<number of a request>
Asks a whole service of its own requests that are valid, nearly valid and hostile, and holds each answer against
the description of the API. Exits with 0 when all are described and the service is well, 1 when not.`;

const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
if (values.help) {
  console.log(usage);
} else {
  process.exitCode = await main();
}

async function main(): Promise<number> {
  const { FUZZ_SEED, FUZZ_REQUESTS, FUZZ_ONLY } = process.env;
  const seed = Number(FUZZ_SEED ?? Date.now() % 1_000_000);
  const requests = Number(FUZZ_REQUESTS ?? 20_000);
  const only = FUZZ_ONLY === undefined ? undefined : Number(FUZZ_ONLY);
  console.log(`seed ${seed}, ${requests} requests`);
  const ending: (() => unknown)[] = [];
  try {
    const outcome = await fuzz({ teardown: (end) => ending.unshift(end) }, { seed, requests, only });
    say(outcome);
    return outcome.violations.length > 0 ? 1 : 0;
  } finally {
    for (const end of ending) await end();
  }
}

function say({ requests, statuses, operations, seconds, violations }: Outcome): void {
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ');
  console.log(`${requests} requests in ${seconds.toFixed(1)} s; ${counted(statuses)}`);
  const isSuccess = (status: string) => /^[23]/.test(status);
  const never = Object.entries(operations).filter(([, counts]) => !Object.keys(counts).some(isSuccess));
  console.log(`${Object.keys(operations).length} operations were asked; never with success:`);
  for (const [id, counts] of never) console.log(`  ${id} (${counted(counts)})`);
  for (const violation of violations) console.log(`NOT HELD: ${violation}`);
  console.log(violations.length > 0 ? `${violations.length} violations` : 'everything held');
}

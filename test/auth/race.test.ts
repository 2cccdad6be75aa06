import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t from 'tap';
import { startNats } from '../support/nats.js';
import { nodeArgs } from '../support/programs.js';
import { endWithThisProcess, type Teardown } from '../support/server-process.js';
import { newWallet, publicUrl } from './stage.js';

/** Another process with the guarded routes; resolves with its address. */
async function guardedProcess(t: Teardown, natsUrl: string): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, nodeArgs('test/auth/guarded-process.ts', natsUrl), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithThisProcess(child);
  t.teardown(async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });
  const [line] = await once(createInterface({ input: child.stdout! }), 'line', {
    signal: AbortSignal.timeout(30_000),
  });
  return String(line);
}

const taken = '200 taken';
const replayed = '401 nonce_replayed';
/** The log has not answered in time, as on a machine that is overloaded: then nobody is let in. */
const unsure = '503 nonce_store_unavailable';

/** Sends a request that is signed once 100 times to the processes. How often each answer came. */
async function race(processes: readonly string[]): Promise<Record<string, number>> {
  const { nonce } = (await (await fetch(`${processes[0]}/auth/erc8128/nonce`)).json()) as { nonce: string };
  const signed = await newWallet().sign(
    `${publicUrl}/guarded`,
    { method: 'POST', body: '{"pay":1}', headers: { 'content-type': 'application/json' } },
    { nonce },
  );
  const counts: Record<string, number> = {};
  const sent = Array.from({ length: 100 }, async (_, index) => {
    const init = { method: 'POST', ...signed } as RequestInit;
    const answer = await fetch(`${processes[index % 2]}/guarded`, init);
    const { code = 'taken' } = (await answer.json()) as { code?: string };
    const one = `${answer.status} ${code}`;
    counts[one] = (counts[one] ?? 0) + 1;
  });
  await Promise.all(sent);
  return counts;
}

t.test(
  'AUTH-09 a signed request that is sent 100 times at once to two processes is taken once',
  async (t) => {
    const nats = await startNats(t);
    const processes = await Promise.all([guardedProcess(t, nats.url), guardedProcess(t, nats.url)]);
    for (let round = 0; round < 3; round++) {
      const { [taken]: times = 0, [replayed]: refused = 0, [unsure]: unknown = 0 } = await race(processes);
      t.equal(times + refused + unknown, 100);
      t.equal(times === 0 && unknown > 0 ? 1 : times, 1, `taken ${times} times, ${unknown} unknown`);
    }
  },
);

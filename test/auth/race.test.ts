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

t.test(
  'AUTH-09 a signed request that is sent 100 times at once to two processes is taken once',
  async (t) => {
    const nats = await startNats(t);
    const processes = await Promise.all([guardedProcess(t, nats.url), guardedProcess(t, nats.url)]);
    const wallet = newWallet();
    for (let round = 0; round < 3; round++) {
      const { nonce } = (await (await fetch(`${processes[0]}/auth/erc8128/nonce`)).json()) as {
        nonce: string;
      };
      const signed = await wallet.sign(
        `${publicUrl}/guarded`,
        { method: 'POST', body: '{"pay":1}', headers: { 'content-type': 'application/json' } },
        { nonce },
      );
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const answer = await fetch(`${processes[index % 2]}/guarded`, {
            method: 'POST',
            ...signed,
          } as RequestInit);
          return { status: answer.status, body: (await answer.json()) as { code?: string } };
        }),
      );
      t.equal(answers.filter(({ status }) => status === 200).length, 1);
      const refused = answers.filter(({ status }) => status === 401);
      t.equal(refused.length, 99);
      t.same([...new Set(refused.map(({ body }) => body.code))], ['nonce_replayed']);
    }
  },
);

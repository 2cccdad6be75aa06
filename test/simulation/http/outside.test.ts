import t from 'tap';
import { runIn } from '../scenario.js';
import { World } from '../world.js';
import { type HttpFault, httpFaults, Outside } from './outside.js';

/** What a caller sees of a request, after how many milliseconds, and how often the host did its work. */
async function seen(fault: HttpFault | undefined, boundMs = 10_000) {
  const world = new World(3);
  let done = 0;
  const outside = new Outside(world);
  const host = outside.host('bank.test', ({ body }) => {
    done += 1;
    return Response.json({ got: body });
  });
  if (fault) host.failNext(fault);
  const is = await runIn(world, 60_000, async () => {
    try {
      const signal = AbortSignal.timeout(boundMs);
      const response = await fetch('http://bank.test/pay', { method: 'POST', body: 'one', signal });
      return `${response.status} ${await response.text()}`;
    } catch (error) {
      const { name, cause } = error as Error & { cause?: { code?: string } };
      return cause?.code ?? name;
    }
  });
  return { is, done, at: world.elapsed };
}

t.test('SIM-01 fetch reaches simulated hosts in a world, and is given back', async (t) => {
  const { fetch: real } = globalThis;
  t.match(await seen(undefined), { is: '200 {"got":"one"}', done: 1 });
  t.equal(globalThis.fetch, real);
});

t.test('SIM-01 each fault looks as it does on a real connection', async (t) => {
  const found: Record<string, unknown> = {};
  for (const fault of httpFaults) {
    const { is, done } = await seen(fault);
    found[fault] = `${is}, done ${done}`;
  }
  t.same(found, {
    refused: 'ECONNREFUSED, done 0',
    hangs: 'TimeoutError, done 0',
    'too many requests': '429 not now, done 0',
    broken: '500 not now, done 0',
    unavailable: '503 not now, done 0',
    'answer lost': 'ECONNRESET, done 1',
    'answer hangs': 'TimeoutError, done 1',
    'cut body': 'UND_ERR_SOCKET, done 1',
    'slow body': '200 {"got":"one"}, done 1',
    'no JSON': '200 <html>, done 1',
  });
  t.match(await seen('slow body', 150), { is: 'TimeoutError', done: 1 });
});

t.test('SIM-01 an outage refuses for a while, and other names are unknown', async (t) => {
  const world = new World(1);
  const host = new Outside(world).host('bank.test', () => new Response('yes'));
  host.outage(5_000);
  await runIn(world, 60_000, async () => {
    await t.rejects(fetch('http://bank.test/'), { cause: { code: 'ECONNREFUSED' } });
    await t.rejects(fetch('http://nobody.test/'), { cause: { code: 'ENOTFOUND' } });
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    t.equal(await (await fetch('http://bank.test/')).text(), 'yes');
  });
});

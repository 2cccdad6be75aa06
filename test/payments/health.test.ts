import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { readPaidChannels } from '../../src/config/paid-channels.js';
import { nobody } from '../../src/operations/core/call.js';
import type { PaymentsParts } from '../../src/operations/payments/parts.js';
import { getPaymentsHealth } from '../../src/operations/payments/reads.js';
import { Facilitator } from '../../workers/payments/facilitator.js';
import { startFacilitator } from '../support/facilitator.js';
import { callHere } from '../support/operations.js';
import { startPaymentChain } from '../support/payment-chain.js';
import { freePort } from '../support/ports.js';
import { channelsFile, paidChannel } from './stage.js';

/** What a gateway with a facilitator at this address, or with none, says of itself. */
async function healthOf(t: Test, url: string | undefined, paid: unknown[] = [paidChannel()]) {
  const payments = {
    channels: readPaidChannels(await channelsFile(t, paid)),
    facilitator: url === undefined ? undefined : new Facilitator({ url }),
  };
  // health asks nothing else
  const parts = { payments, startedAt: new Date() } as unknown as PaymentsParts;
  return await callHere(parts)(getPaymentsHealth, {}, nobody);
}

t.test('PAY-30 health says why nothing can be paid', async (t) => {
  t.match(await healthOf(t, undefined), { status: 'degraded', reason: /X402_FACILITATOR_URL is not set/ });

  const nothing = `http://127.0.0.1:${await freePort()}`;
  t.match(await healthOf(t, `${nothing}/a-secret-path`), {
    status: 'degraded',
    reason: `the payment facilitator ${nothing} does not answer as one`,
    facilitator: { url: nothing, reachable: false },
  });

  const another = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  t.teardown(() => another.close());
  await new Promise((resolve) => another.once('listening', resolve));
  const { port } = another.address() as AddressInfo;
  t.match(await healthOf(t, `http://127.0.0.1:${port}`), {
    status: 'degraded',
    reason: /does not answer as one/,
  });

  const facilitator = await startFacilitator(t, await startPaymentChain(t));
  const well = { ok: await healthOf(t, facilitator.url), not_configured: await healthOf(t, undefined, []) };
  for (const [status, body] of Object.entries(well)) {
    t.match(body, { status });
    t.notOk(Object.hasOwn(body as object, 'reason'));
  }
});

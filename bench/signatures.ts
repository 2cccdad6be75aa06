import { createSignerClient, createVerifierClient } from '@slicekit/erc8128';
import { verifyMessage } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Nonces } from '../src/auth/erc8128/nonces.js';
import { Wallets } from '../src/auth/erc8128/wallets.js';
import type { Bench, Row } from './support/bench.js';
import { median, milliseconds, percentile } from './support/figures.js';
import { openLog } from './support/log.js';
import { startNats } from './support/servers.js';

const publicUrl = 'https://api.relay.example';
const path = '/mcp';
const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };

/** Signed requests, checked with nonces on disk, against the library alone with a set of nonces in memory. */
export async function signatures(t: Bench): Promise<Row[]> {
  const times = t.size(1_000, 100);
  const log = await openLog(t, await startNats(t, { sync: 'always' }));
  const nonces = new Nonces({ log, replicas: 1 });
  const wallets = new Wallets({ publicUrl, nonces });
  const account = privateKeyToAccount(generatePrivateKey());
  const signer = createSignerClient({
    chainId: 8453,
    address: account.address,
    signMessage: (raw) => account.signMessage({ message: { raw } }),
  });
  const bare = bareVerifier();

  t.progress('issuing and signing');
  const issueMs: number[] = [];
  const requests = [];
  for (let n = 0; n < times; n++) {
    const startedAt = performance.now();
    const { nonce } = await nonces.issue();
    issueMs.push(performance.now() - startedAt);
    const signed = await signer.signRequest(publicUrl + path, init, { ttlSeconds: 300, nonce });
    requests.push(Object.fromEntries(signed.headers));
  }
  t.progress('checking');
  const [oursMs, bareMs]: [number[], number[]] = [[], []];
  for (const headers of requests) {
    const startedAt = performance.now();
    await bare(new Request(publicUrl + path, { method: 'POST', headers, body }));
    const between = performance.now();
    await wallets.verify({ method: 'POST', url: path, headers }, Buffer.from(body));
    bareMs.push(between - startedAt);
    oursMs.push(performance.now() - between);
  }
  return [
    {
      measured: 'a signed request checked and its nonce used up on disk, p50',
      ours: milliseconds(median(oursMs)),
      against: `@slicekit/erc8128 with viem and nonces in memory: ${milliseconds(median(bareMs))}`,
      ratio: median(oursMs) / median(bareMs),
    },
    {
      measured: 'the same, p99',
      ours: milliseconds(percentile(oursMs, 0.99)),
      against: `the library alone: ${milliseconds(percentile(bareMs, 0.99))}`,
      ratio: percentile(oursMs, 0.99) / percentile(bareMs, 0.99),
    },
    {
      measured: 'a nonce issued on disk, p50',
      ours: milliseconds(median(issueMs)),
      against: `p99: ${milliseconds(percentile(issueMs, 0.99))}`,
    },
  ];
}

function bareVerifier(): (request: Request) => Promise<void> {
  const seen = new Set<string>();
  const consume = async (key: string) => !seen.has(key) && seen.add(key) !== undefined;
  const verifier = createVerifierClient({
    verifyMessage,
    nonceStore: { consume },
    defaults: { label: 'eth', strictLabel: true, maxValiditySec: 300, clockSkewSec: 30 },
  });
  return async (request) => {
    const result = await verifier.verifyRequest({ request });
    if (!result.ok) throw new Error(`the library refuses: ${result.reason}`);
  };
}

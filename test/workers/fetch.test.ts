import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { BodyTooLarge, boundedFetch, type Send } from '../../workers/core/fetch.js';
import { collectGarbage } from '../support/collecting.js';
import { type Manner, startEndless } from '../support/endless.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import type { Teardown } from '../support/server-process.js';

const timeoutMs = 3_000;

/** Starts a server that answers as given; where it is. */
async function serve(t: Teardown, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const textOf = async (answering: Promise<Response>) => await (await answering).text();

for (const manner of ['mute', 'silent', 'drip', 'flood'] satisfies Manner[]) {
  t.test(`FETCH-01 an answer that does not end (${manner})`, async (t) => {
    collectGarbage(t);
    const server = await startEndless(t, manner);
    const startedAt = Date.now();
    await t.rejects(textOf(boundedFetch(server.url, {}, { timeoutMs })), { name: 'TimeoutError' });
    const tookMs = Date.now() - startedAt;
    t.ok(tookMs >= timeoutMs - 50, `${tookMs} ms`);
    t.equal(server.asked, 1);
    await eventually('the connection to be given up', () => server.open === 0);
  });

  t.test(`FETCH-01 a signal, however it is given (${manner})`, async (t) => {
    collectGarbage(t);
    const server = await startEndless(t, manner);
    const stop = new AbortController();
    const never = new AbortController().signal;
    const { signal } = stop;
    const around: Send = (request) => fetch(new Request(request, { headers: { 'x-signed': 'yes' } }));
    const answers = [
      boundedFetch(server.url, { signal }),
      boundedFetch(server.url, { signal: AbortSignal.any([signal, never]) }, { timeoutMs: 60_000 }),
      boundedFetch(new Request(server.url, { signal })),
      boundedFetch(new Request(server.url, { signal: never }), { signal }),
      boundedFetch(new Request(server.url, { signal }), {}, { send: around }),
    ].map(async (answering) => await textOf(answering).catch((error: unknown) => error));
    await eventually('all to be asked', () => server.open === answers.length);
    setTimeout(() => stop.abort(new Error('enough')), timeoutMs);
    for (const answer of answers) t.match(await answer, { message: 'enough' });
    // of the last one somebody else has the request, and it may be held by nobody
    const left = manner === 'mute' ? 1 : 0;
    await eventually('the connections to be given up', () => server.open <= left);
  });
}

t.test('FETCH-01 nothing is asked where it is over before it begins', async (t) => {
  const server = await startEndless(t, 'silent');
  const signal = AbortSignal.abort(new Error('too late'));
  await t.rejects(boundedFetch(server.url, { signal }), { message: 'too late' });
  await t.rejects(boundedFetch(new Request(server.url, { signal })), { message: 'too late' });
  t.equal(server.asked, 0);
});

t.test('FETCH-01 a reader that leaves gives the connection up', async (t) => {
  const server = await startEndless(t, 'drip');
  const unread = await boundedFetch(server.url, {}, { timeoutMs: 60_000 });
  await unread.body?.cancel();
  const begun = await boundedFetch(server.url, {}, { timeoutMs: 60_000 });
  for await (const chunk of begun.body!) {
    t.ok((chunk as Uint8Array).length > 0);
    break;
  }
  await eventually('the connections to be given up', () => server.open === 0);
});

t.test('FETCH-01 an answer that nobody reads is given up in time', async (t) => {
  collectGarbage(t);
  const server = await startEndless(t, 'drip');
  t.equal((await boundedFetch(server.url, {}, { timeoutMs })).status, 200);
  await eventually('the connection to be given up', () => server.open === 0);
});

t.test('FETCH-02 a body that is too large', async (t) => {
  const flood = await startEndless(t, 'flood');
  const bounds = { timeoutMs: 60_000, maxBytes: 1_000 };
  const answer = await boundedFetch(flood.url, {}, bounds);
  await t.rejects(answer.text(), new BodyTooLarge(200, 1_000));
  await eventually('the connection to be given up', () => flood.open === 0);
  const url = await serve(t, ({ url }, response) => {
    response.writeHead(404).end('x'.repeat(Number(url!.slice(1))));
  });
  t.equal((await textOf(boundedFetch(`${url}/1000`, {}, bounds))).length, 1_000, 'so much may be');
  await t.rejects(textOf(boundedFetch(`${url}/1001`, {}, bounds)), { name: 'BodyTooLarge', status: 404 });
});

t.test('FETCH-01 otherwise it is as without bounds', async (t) => {
  const bounds = { timeoutMs: 60_000, maxBytes: 1_000 };
  const url = await serve(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, headers } = request;
    const status = Number(request.url!.slice(1));
    response.writeHead(status, { 'x-length': headers['content-length'] ?? 'none', location: '/200' });
    response.end(status === 204 ? undefined : `${method} ${Buffer.concat(chunks)}`);
  });
  const body = '{"ä":1}';
  for (const status of [200, 404, 503]) {
    const answer = await boundedFetch(`${url}/${status}`, { method: 'POST', body }, bounds);
    t.match(answer, { status, ok: status === 200, url: `${url}/${status}` });
    t.equal(answer.headers.get('x-length'), '8', 'sent as a whole');
    t.equal(await answer.text(), `POST ${body}`);
  }
  const nothing = await boundedFetch(`${url}/204`, {}, bounds);
  t.same([nothing.status, nothing.body], [204, null]);
  const moved = await boundedFetch(`${url}/302`, { redirect: 'manual' }, bounds);
  t.equal(moved.status, 302);
  await moved.body?.cancel();
  await t.rejects(boundedFetch(`${url}/302`, { redirect: 'error' }, bounds), /fetch failed/);
  const closed = boundedFetch(`http://127.0.0.1:${await freePort()}`, {}, bounds);
  await t.rejects(closed, { message: 'fetch failed', cause: { code: 'ECONNREFUSED' } });
});

t.test('FETCH-05 what is over is forgotten', async (t) => {
  collectGarbage(t);
  const url = await serve(t, (_request, response) => response.end('yes'));
  const sent: WeakRef<Request>[] = [];
  const send: Send = (request) => {
    sent.push(new WeakRef(request));
    return fetch(request);
  };
  const { signal } = new AbortController();
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const ask = (to: string) => textOf(boundedFetch(to, { signal }, { timeoutMs, send }));
  for (let n = 0; n < 10; n++) await ask(n % 5 === 0 ? nowhere : url).catch(() => undefined);
  t.equal(sent.length, 10);
  await eventually('the requests to be collected', () => sent.every((request) => !request.deref()));
});

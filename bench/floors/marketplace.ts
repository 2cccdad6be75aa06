import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A marketplace that lists the same twenty tasks to everybody, as fast as Node.js can. */
const tasks = Array.from({ length: 20 }, (_, n) => ({
  id: `task-${n}`,
  title: `Photograph shop front number ${n}`,
  status: 'published',
  bounty_usd: n / 2,
  category: 'physical_presence',
  created_at: '2026-01-01T00:00:00Z',
}));
const body = Buffer.from(JSON.stringify({ tasks, count: tasks.length }));
const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };

const server = createServer((_request, response) => void response.writeHead(200, headers).end(body));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});

import { isFree } from '../../src/servers/net.js';

// Above those that the service picks for servers of its own, and below those that the kernel gives to outgoing connections.
const lowest = 20_000;
const highest = 32_000;
/** Ports of one process. It gives each once, before it gives the first again. */
const each = 500;
const shares = (highest - lowest) / each;

// A server that is stopped for a while must find its port again. So processes that run together share no ports.
const first = lowest + (Number(process.env.TAP_JOB_ID ?? 0) % shares) * each;
let given = process.pid % each;

/** A port that is free, and that no other test asks for. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = first + (given++ % each);
    if (await isFree(port, host)) return port;
  }
}

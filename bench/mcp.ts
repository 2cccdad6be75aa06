import type { Bench, Row } from './support/bench.js';
import { median, whole } from './support/figures.js';
import { answersPerSecond } from './support/load.js';
import { startNats } from './support/servers.js';
import { startFloor, startService } from './support/service.js';

const connections = 16;
const key = 'bench-key-'.repeat(4);

/** Calls of the tool server, against the SDK's own server that makes its tools for each request, in turns. */
export async function mcp(t: Bench): Promise<Row[]> {
  const { url } = await startFloor(t, 'mcp');
  const nats = await startNats(t);
  const ours = await startService(
    t,
    { nats },
    { ROLES: 'api,projections', LOG_LEVEL: 'warn', API_KEYS: `bench:${key}` },
  );
  const rows: Row[] = [];
  for (const [method, params, floorParams] of [
    ['tools/list', {}, {}],
    [
      'tools/call',
      { name: 'svc_list_channels', arguments: {} },
      { name: 'tool_7', arguments: { channel: 'lobby' } },
    ],
  ] as const) {
    const rounds: { ours: number; floor: number }[] = [];
    for (let round = 0; round <= t.size(3, 1); round++) {
      t.progress(`${method}, ${round === 0 ? 'warming up' : `round ${round}`}`);
      const figures = {
        ours: await perSecond(`${ours.url}/mcp`, { method, params }, t.size(4, 1)),
        floor: await perSecond(url, { method, params: floorParams }, t.size(4, 1)),
      };
      if (round > 0) rounds.push(figures);
    }
    rows.push({
      measured: `${method} of POST /mcp, ${connections} connections`,
      ours: `${whole(median(rounds.map((figures) => figures.ours)))}/s`,
      against: `the SDK’s stateless server, its 57 tools registered for each request: ${whole(median(rounds.map((figures) => figures.floor)))}/s`,
      ratio: median(rounds.map((figures) => figures.ours / figures.floor)),
      goal: '≥ 2',
    });
  }
  return rows;
}

async function perSecond(url: string, request: object, seconds: number): Promise<number> {
  return await answersPerSecond({
    url,
    connections,
    duration: seconds,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-mcp-api-key': key,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...request }),
  });
}

import type { Bench, Row } from './support/bench.js';
import { median } from './support/figures.js';
import { type LoadFigures, loadText, medians, underLoad } from './support/load.js';
import { rawRequest } from './support/raw-http.js';
import { startNats } from './support/servers.js';
import { startFloor, startService } from './support/service.js';

const connections = 16;
const key = 'bench-key-'.repeat(4);

/** Calls of the tool server, against the SDK's own server that makes its tools for each request, in turns. */
export async function mcp(t: Bench): Promise<Row[]> {
  const floor = await startFloor(t, 'mcp');
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
    const rounds: { ours: LoadFigures; floor: LoadFigures }[] = [];
    for (let round = 0; round <= t.size(3, 1); round++) {
      t.progress(`${method}, ${round === 0 ? 'warming up' : `round ${round}`}`);
      const figures = {
        ours: await called({ ...ours, url: `${ours.url}/mcp` }, { method, params }, t.size(4, 1)),
        floor: await called(floor, { method, params: floorParams }, t.size(4, 1)),
      };
      if (round > 0) rounds.push(figures);
    }
    rows.push({
      measured: `${method} of POST /mcp, ${connections} connections`,
      ours: loadText(medians(rounds.map((figures) => figures.ours))),
      against: `the SDK’s stateless server, its 57 tools registered for each request: ${loadText(medians(rounds.map((figures) => figures.floor)))}`,
      ratio: median(rounds.map((figures) => figures.ours.perSecond / figures.floor.perSecond)),
      goal: '≥ 2',
    });
  }
  return rows;
}

async function called(
  { url, pid }: { url: string; pid: number },
  request: object,
  seconds: number,
): Promise<LoadFigures> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-mcp-api-key': key,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...request });
  const bytes = rawRequest(url, { method: 'POST', headers, body });
  return await underLoad({ url, next: () => bytes, connections, seconds, processes: { process: pid } });
}

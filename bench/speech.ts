import { speakAtOnce } from './floors/speech.js';
import type { Bench, Row } from './support/bench.js';
import { milliseconds, percentile, whole } from './support/figures.js';
import { inParallel } from './support/log.js';
import { RawConnection, rawRequest } from './support/raw-http.js';
import { startIrcd, startNats } from './support/servers.js';
import { residentMb, startService } from './support/service.js';

const key = 'bench-key-'.repeat(4);
const channels = Array.from({ length: 25 }, (_, n) => `#bench-${n}`);
const atATime = 16;

/** Agents without a socket that all speak at once, each under its own nick, and what their connections cost. */
export async function speech(t: Bench): Promise<Row[]> {
  const count = t.size(500, 20);
  const nats = await startNats(t, { sync: 'always' });
  const ircd = await startIrcd(t, { fixedChannels: channels });
  const service = await startService(
    t,
    { nats, ircd },
    { API_KEYS: `bench:${key}`, KEY_RATE_LIMIT: '0', RATE_LIMIT: '0', LOG_LEVEL: 'warn' },
  );
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
    const answer = await fetch(service.url + path, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };

  t.progress(`${count} agents`);
  const agents: {
    nick: string;
    channel: string;
    headers: Record<string, string>;
  }[] = [];
  await inParallel(count, atATime, async (n) => {
    const nick = `agent${n}`;
    const given = await ask('POST', '/auth/keys', { 'x-api-key': key }, { nick, scopes: ['read', 'speak'] });
    agents[n] = {
      nick,
      channel: channels[n % channels.length]!.slice(1),
      headers: { 'x-api-key': given.key as string, 'content-type': 'application/json' },
    };
  });
  const before = residentMb(service.pid);
  await inParallel(count, atATime, async (n) => {
    const { headers, channel } = agents[n]!;
    await ask('POST', '/irc/connection', headers, {});
    await ask('POST', '/irc/connection/channels', headers, { channel });
  });

  const ours: number[] = [];
  const floor: number[] = [];
  const rounds = t.size(3, 1);
  for (let round = 0; round <= rounds; round++) {
    t.progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    const connections = agents.map(() => new RawConnection(service.url));
    const took = await Promise.all(
      agents.map((agent, n) =>
        said(service.url, { ...agent, connection: connections[n]! }, lineOf(round, n)),
      ),
    );
    for (const connection of connections) connection.close();
    const bare = await speakAtOnce({ port: ircd.port, count, channels, lineOf: (n) => lineOf(round, n) });
    if (round === 0) continue;
    ours.push(...took);
    floor.push(...bare);
  }
  const after = residentMb(service.pid);
  const row = (p: number, name: string): Row => ({
    measured: `${count} agents speak at once through the gateway in ${channels.length} channels, from the post to the line, ${name}`,
    ours: milliseconds(percentile(ours, p)),
    against: `as many bare sockets, each with a labelled line: ${milliseconds(percentile(floor, p))}`,
    ratio: percentile(ours, p) / percentile(floor, p),
  });
  return [
    row(0.5, 'p50'),
    row(0.99, 'p99'),
    {
      measured: `memory with ${count} agents connected through the gateway, after they spoke`,
      ours: `${whole(after)} MB`,
      against: `without: ${whole(before)} MB`,
      ratio: `+${whole((after - before) / (count / 1_000))} kB for each`,
    },
  ];
}

const lineOf = (round: number, n: number) => `line ${round} of agent ${n} is a short one about its day`;

/** Posts a line and resolves with the milliseconds until the answer, which comes when the line was seen. */
function said(
  url: string,
  agent: { channel: string; headers: Record<string, string>; connection: RawConnection },
  text: string,
): Promise<number> {
  const { channel, headers, connection } = agent;
  const body = JSON.stringify({ text });
  const request = rawRequest(`${url}/irc/channels/${channel}/messages`, { method: 'POST', headers, body });
  const sentAt = performance.now();
  return new Promise((resolve, reject) => {
    connection.send(request, (status, error) => {
      if (status === 200) resolve(performance.now() - sentAt);
      else reject(error ?? new Error(`a line was answered ${status}`));
    });
  });
}

import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { projectDir } from '../src/servers/binaries.js';
import { type ChildSpec, type SupervisedChild, superviseChild } from '../src/servers/child.js';
import { freePort, isFree } from '../src/servers/net.js';
import type { Bench } from './support/bench.js';
import { signed, taskEvent } from './support/events.js';
import { poster } from './support/load.js';
import { quiet } from './support/log.js';

import { type Ircd, startNats, temporaryFolder } from './support/servers.js';
import { startService } from './support/service.js';

/** Hands over one line that contains `id`, for the channel of a task. */
export type Send = (task: string, id: string) => Promise<unknown>;

/** A program that turns a request into a line in a channel. */
export interface Relay {
  name: string;
  /** What it does not do, for the table. */
  lacks: string;
  /** Starts it on an IRC server, for the channels of these tasks. */
  start(t: Bench, ircd: Ircd, tasks: readonly string[]): Promise<Send>;
  /** Milliseconds of rest between two single lines, so that its own throttle is not in the latency. */
  restMs: number;
}

/** The channel of a task. */
export const channelOf = (task: string): string => `#task-${task}`;

/** This service, its log on disk before the answer. */
export const ours: Relay = { name: 'relay', lacks: '', start: startOurs, restMs: 50 };

/** The relays of Debian to compare with. */
export const peerRelays: Relay[] = [
  {
    name: 'alertmanager-irc-relay',
    lacks: 'keeps nothing, confirms nothing, throttles itself',
    start: startAlertmanagerRelay,
    restMs: 3_000,
  },
  {
    name: 'irker',
    lacks: 'keeps nothing, confirms nothing, waits a second after each line',
    start: startIrker,
    restMs: 1_200,
  },
];

async function startOurs(t: Bench, ircd: Ircd): Promise<Send> {
  const nats = await startNats(t, { sync: 'always' });
  const service = await startService(t, { nats, ircd });
  const { post, close } = poster(service.url);
  t.teardown(close);
  return async (task, id) => {
    const event = taskEvent(id);
    const payload = { ...event.payload, id: task, score: 5, comment: id };
    await post(signed({ ...event, event_type: 'rating.created', payload }));
  };
}

async function startAlertmanagerRelay(t: Bench, ircd: Ircd, tasks: readonly string[]): Promise<Send> {
  const name = 'alertmanager-irc-relay';
  const dir = await temporaryFolder(t);
  const file = join(dir, 'config.json'); // JSON is YAML
  const { port } = await startRelay(t, {
    name,
    dir,
    port: await freePort(),
    command: programOf(name, name),
    ownArgument: file,
    args: (port) => {
      const config = {
        http_host: '127.0.0.1',
        http_port: port,
        irc_host: '127.0.0.1',
        irc_port: ircd.port,
        irc_host_password: ircd.serverPassword,
        irc_use_ssl: false,
        irc_nickname: 'alerts',
        irc_channels: tasks.map((task) => ({ name: channelOf(task) })),
        msg_once_per_alert_group: true,
        use_privmsg: true,
        msg_template: '{{ .GroupLabels.alertname }}',
      };
      writeFileSync(file, JSON.stringify(config));
      return ['-config', file];
    },
  });
  return async (task, id) => {
    const alert = { status: 'firing', labels: { alertname: id }, annotations: {} };
    const body = { version: '4', status: 'firing', groupLabels: { alertname: id }, alerts: [alert] };
    const answer = await fetch(`http://127.0.0.1:${port}/${channelOf(task).slice(1)}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`alertmanager-irc-relay answered ${answer.status}`);
  };
}

/** The port is not a setting of irker's. */
const irkerPort = 6_659;

async function startIrker(t: Bench, ircd: Ircd): Promise<Send> {
  if (!(await isFree(irkerPort))) throw new Error(`its port ${irkerPort} is in use`);
  const command = programOf('irker', 'irkerd');
  execFileSync(command, ['--version'], { stdio: 'ignore' }); // it needs Python
  await startRelay(t, {
    name: 'irker',
    dir: await temporaryFolder(t),
    port: irkerPort,
    command,
    ownArgument: 'irker',
    args: () => ['-H', '127.0.0.1', '-H6', '::1', '-n', 'irker'],
  });
  const socket = connect({ host: '127.0.0.1', port: irkerPort, noDelay: true });
  socket.on('error', () => {}); // what is lost is not shown
  t.teardown(() => void socket.destroy());
  return async (task, id) => {
    const to = `irc://:${ircd.serverPassword}@127.0.0.1:${ircd.port}/${channelOf(task).slice(1)}`;
    socket.write(`${JSON.stringify({ to, privmsg: id })}\n`);
  };
}

async function startRelay(
  t: Bench,
  relay: Pick<ChildSpec, 'name' | 'dir' | 'port' | 'command' | 'args' | 'ownArgument'>,
): Promise<SupervisedChild> {
  const server = await superviseChild({
    ...relay,
    host: '127.0.0.1',
    fingerprint: '',
    log: quiet,
    answers: async (port) => !(await isFree(port)),
    startTimeoutMs: 20_000,
    stopGraceMs: 5_000,
  });
  t.teardown(() => server.stop());
  return server;
}

/**
 * A program of a Debian package: as `scripts/setup --bench` unpacked it, or installed. Throws if it is not
 * found.
 */
function programOf(name: string, program: string): string {
  const places = [join(projectDir, '.tools', name, 'usr', 'bin', program), join('/usr/bin', program)];
  const found = places.find((place) => existsSync(place));
  if (!found) throw new Error('not installed (Debian has it; scripts/setup --bench fetches it)');
  return found;
}

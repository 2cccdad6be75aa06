import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { boundedFetch } from '../../../workers/core/fetch.js';
import { isRecentNats, projectDir } from '../../servers/binaries.js';
import type { Failed } from '../core/failure.js';
import { type Check, fail, ok, type Result, skipped, warn } from './finding.js';
import type { Installation } from './installation.js';

/** Signatures are good for five minutes: with this much of it lost to the clocks, some will be refused. */
const badOffsetMs = 60_000;
const notableOffsetMs = 2_000;
const monitorMs = 1_000;
const Variables = z.object({
  jetstream: z.object({ config: z.object({ sync_always: z.boolean().default(false) }) }),
});

/** Looks at the log where it can be read; where it cannot, another check says so. */
export async function withLog(
  installation: Installation,
  look: (log: Log) => Promise<Result | Result[]>,
): Promise<Result | Result[]> {
  const log = await installation.log().catch(() => undefined);
  return log ? await look(log) : skipped('the event log cannot be read');
}

const advice: Record<string, string> = {
  log_unauthorized: 'put the credentials into NATS_URL: nats://user:password@host:4222',
  log_without_jetstream: "start that nats-server with this project's nats.conf, or with -js",
};

const server: Check = {
  id: 'log',
  async look(installation) {
    try {
      const { connection } = await installation.log();
      const { version = '?' } = connection.info ?? {};
      if (!isRecentNats(version))
        return fail(`the log server is nats-server ${version}`, 'replace it with 2.10 or newer');
      return ok(`nats-server ${version} with JetStream answers at ${connection.getServer()}`);
    } catch (error) {
      const { code, message } = error as Failed;
      if (code === 'log_not_running' && (await installation.service()).is !== 'running')
        return skipped('the log server starts with the service');
      return fail(message, advice[code] ?? 'start the log server, or set NATS_URL to where it runs');
    }
  },
};

const synced: Check = {
  id: 'log-sync',
  look: (installation) =>
    withLog(installation, async (log) => {
      const always = installation.own.nats ? readsAlways() : await asksAlways(log, installation.monitorPort);
      if (always === undefined)
        return skipped(
          `the log server does not show its settings on port ${installation.monitorPort}: see to sync_interval there`,
        );
      if (always) return ok('an acknowledged fact is on disk (sync_interval: always)');
      return fail(
        'the log server acknowledges before the disk has it: facts are lost at a power failure',
        'set "sync_interval: always" in the jetstream block of its configuration, as in nats.conf',
      );
    }),
};

const clock: Check = {
  id: 'clock',
  look: (installation) =>
    withLog(installation, async (log) => {
      const before = installation.now();
      const [first] = streams;
      const found = await log.manager.streams.info(first!.name).catch(() => undefined);
      const stamp = (found as { ts?: string } | undefined)?.ts;
      if (stamp === undefined) return skipped('the log server has no stream to tell the time of');
      const offsetMs = Math.round(Date.parse(stamp) - (before + installation.now()) / 2);
      const size = Math.abs(offsetMs);
      const what = `the clock of the log server shows a time ${size} ms ${offsetMs < 0 ? 'earlier' : 'later'} than this one`;
      const mend = 'have both machines set their clocks by NTP';
      if (size > badOffsetMs) return fail(what, mend);
      return size > notableOffsetMs ? warn(what, mend) : ok(what);
    }),
};

/** Our own server reads the project's file, which somebody may have changed. */
function readsAlways(): boolean {
  return /^\s*sync_interval:\s*"?always"?\s*$/m.test(readFileSync(join(projectDir, 'nats.conf'), 'utf8'));
}

/** What a given server says of itself, where it says anything. */
async function asksAlways({ connection }: Log, port: number): Promise<boolean | undefined> {
  const { hostname } = new URL(`nats://${connection.getServer()}`);
  try {
    const answer = await boundedFetch(`http://${hostname}:${port}/varz`, {}, { timeoutMs: monitorMs });
    return Variables.parse(await answer.json()).jetstream.config.sync_always;
  } catch {
    return undefined;
  }
}

/** The log server. */
export const logChecks: Check[] = [server, synced, clock];

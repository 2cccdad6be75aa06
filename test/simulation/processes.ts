import { type ChildProcess, fork } from 'node:child_process';
import { addRun, type CampaignOptions, emptySummary, runCampaign, type Summary } from './campaign.js';
import type { Run } from './scenario.js';
import { scenarios } from './scenarios/index.js';

/** What a process is asked to play. */
interface Task extends Omit<CampaignOptions, 'scenarios' | 'ran' | 'signal'> {
  only: string[];
}

/** What a process tells after each run; the timeline stays where it is, for the seed gives it again. */
interface Told {
  run: Run;
  seconds: number;
}

/** Like `runCampaign`, in several processes that share the seeds. Rejects when one of them ends by itself. */
export async function runInProcesses(jobs: number, options: CampaignOptions): Promise<Summary> {
  const { scenarios: chosen, ran, signal, ...rest } = options;
  const so = emptySummary();
  const children = Array.from({ length: jobs }, () => fork(import.meta.filename));
  const stop = () => {
    for (const child of children) if (child.connected) child.disconnect();
  };
  signal?.addEventListener('abort', stop, { once: true });
  const played = children.map((child, index) => {
    const task: Task = { ...rest, only: chosen.map(({ name }) => name), share: { index, of: jobs } };
    child.send(task);
    child.on('message', ({ run, seconds }: Told) => {
      addRun(so, run, seconds);
      ran?.(run, seconds, so);
      if (run.broken.length > 0 && !options.goOn) stop();
    });
    return ended(child, signal);
  });
  await Promise.all(played).finally(stop);
  return so;
}

function ended(child: ChildProcess, stopped?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // one that is told to stop as it starts ends by that
      if (code === 0 || stopped?.aborted) resolve();
      else reject(new Error(`a process that plays seeds ended with ${signal ?? code}`));
    });
  });
}

if (process.send && process.argv[1] === import.meta.filename) {
  const stop = new AbortController();
  process.once('disconnect', () => stop.abort());
  // whoever asked for this process ends it
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
  process.once('message', async ({ only, ...task }: Task) => {
    await runCampaign({
      ...task,
      signal: stop.signal,
      scenarios: scenarios.filter(({ name }) => only.includes(name)),
      ran: (run, seconds) => {
        const told: Told = { run: { ...run, timeline: [], planned: [] }, seconds };
        // nobody may listen any more
        if (process.connected) process.send!(told, undefined, undefined, () => {});
      },
    });
    if (process.connected) process.disconnect();
  });
}

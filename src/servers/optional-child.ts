import { setTimeout as sleep } from 'node:timers/promises';
import { backoff, type ChildSpec, type SupervisedChild, superviseChild } from './child.js';

/** A server that can be missed: nobody waits for it. */
export interface OptionalChild {
  /** Its supervision once it has answered for the first time; `undefined` when it was stopped before. */
  readonly started: Promise<SupervisedChild | undefined>;
  /** Ends the server, or the attempts to start it; returns when no process is left. */
  stop(): Promise<void>;
}

/** Like {@link superviseChild} for a server that can be missed: its first start is tried again too, with back-off. */
export function superviseOptionalChild(spec: ChildSpec): OptionalChild {
  const stopped = new AbortController();
  const { signal } = stopped;
  const started = startOnce({ ...spec, signal });
  return {
    started,
    async stop() {
      stopped.abort();
      await (await started)?.stop();
    },
  };
}

async function startOnce(spec: ChildSpec & { signal: AbortSignal }): Promise<SupervisedChild | undefined> {
  for (let failures = 0; !spec.signal.aborted; failures++) {
    try {
      return await superviseChild(spec);
    } catch (error) {
      if (spec.signal.aborted) break;
      const backoffMs = backoff(failures);
      spec.log.warn(
        { server: spec.name, failures: failures + 1, backoffMs, err: error },
        'server did not start, trying again',
      );
      await sleep(backoffMs, undefined, { signal: spec.signal }).catch(() => {});
    }
  }
  return undefined;
}

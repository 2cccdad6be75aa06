import { retry } from '../../streams/core/index.js';
import { type ChildSpec, restarts, type SupervisedChild, superviseChild } from './child.js';

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
  const { name, log, signal } = spec;
  const failed = (error: unknown, failures: number) =>
    log.warn({ server: name, failures, err: error }, 'server did not start, trying again');
  return await retry(() => superviseChild(spec), { pauses: restarts, failed, signal });
}

import { nuid } from 'nats';
import { takeOverGlobals } from '../globals.js';
import type { World } from '../world.js';

/**
 * Runs something in a world until it has come to its end, with the time, the chance and the ids of that world. Throws
 * what it throws, and when it is not through within `boundMs`.
 */
export async function runIn<T>(world: World, boundMs: number, work: () => Promise<T>): Promise<T> {
  const giveBack = takeOverGlobals(world);
  const idsAgain = takeOverIds(world);
  try {
    let end: { value: T } | { error: unknown } | undefined;
    work().then(
      (value) => (end = { value }),
      (error: unknown) => (end = { error }),
    );
    await world.until(() => end !== undefined, boundMs);
    if (!end) throw new Error(`not through after ${boundMs} simulated milliseconds`);
    if ('error' in end) throw end.error;
    return end.value;
  } finally {
    idsAgain();
    giveBack();
  }
}

/** Has the client library's ids, which are the ids of facts and inboxes, come from a world. */
function takeOverIds(world: World): () => void {
  const ids = nuid as unknown as { setPre(): void; buf: Uint8Array; inited: boolean };
  const random = world.random.fork();
  ids.setPre = () => {
    for (let place = 0; place < 12; place++) ids.buf[place] = 65 + random.int(0, 25);
  };
  nuid.reset();
  return () => {
    delete (ids as { setPre?: unknown }).setPre;
    nuid.reset();
  };
}

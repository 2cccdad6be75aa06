import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Teardown } from './server-process.js';

/** A hop between a client and a server that can fail as networks do. */
export interface TcpRelay {
  readonly port: number;
  readonly url: string;
  /** How many connections have been made through it. */
  readonly connections: number;
  /** When each of them was made, in milliseconds since 1970. */
  readonly times: readonly number[];
  /** Ends the present connections on both sides with a reset; what was on its way is gone. */
  cut(): void;
  /** Holds the present connections half open: both sides stay connected, nothing gets through. New ones are not affected. */
  freeze(): void;
  /** Lets what frozen connections hold go on, towards a server that may have ended them meanwhile. */
  thaw(): void;
  /** Accepts no more (true) or again (false). */
  refuse(on: boolean): void;
}

interface Pair {
  client: Socket;
  server: Socket;
  frozen: boolean;
  /** What frozen sides still have to pass on: bytes, or their end. */
  held: (() => void)[];
}

/**
 * Starts a relay in front of a port on this machine for as long as the test lasts. With `localAddress`, one of this
 * machine's, the server sees its clients come from there.
 */
export async function startTcpRelay(
  t: Teardown,
  targetPort: number,
  { localAddress = '127.0.0.1' } = {},
): Promise<TcpRelay> {
  const pairs = new Set<Pair>();
  const times: number[] = [];
  let refusing = false;

  const listener = createServer({ noDelay: true }, (client) => {
    if (refusing) {
      client.resetAndDestroy();
      return;
    }
    times.push(Date.now());
    const server = connect({ host: '127.0.0.1', port: targetPort, localAddress, noDelay: true });
    const pair: Pair = { client, server, frozen: false, held: [] };
    pairs.add(pair);
    link(pair, client, server);
    link(pair, server, client);
  });

  function link(pair: Pair, from: Socket, to: Socket) {
    // Bytes are taken from a frozen side too: they are on their way, whatever becomes of their sender.
    const pass = (step: () => void) => (pair.frozen ? pair.held.push(step) : step());
    from.on('data', (chunk) => pass(() => to.write(chunk)));
    from.on('error', () => undefined);
    from.on('close', () =>
      pass(() => {
        to.end();
        pairs.delete(pair);
      }),
    );
  }

  function cut() {
    for (const { client, server } of pairs) {
      for (const socket of [client, server]) {
        // Node 20 never exits after the reset of a socket that is being shut down.
        if (!socket.destroyed && !socket.connecting && !socket.writableEnded) socket.resetAndDestroy();
        socket.destroy();
      }
    }
    pairs.clear();
  }

  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    refusing = true;
    cut();
    await new Promise((resolve) => listener.close(resolve));
  });
  const { port } = listener.address() as AddressInfo;
  return {
    port,
    url: `irc://127.0.0.1:${port}`,
    get connections() {
      return times.length;
    },
    times,
    cut,
    freeze() {
      for (const pair of pairs) pair.frozen = true;
    },
    thaw() {
      for (const pair of pairs) {
        pair.frozen = false;
        for (const step of pair.held.splice(0)) step();
      }
    },
    refuse(on) {
      refusing = on;
    },
  };
}

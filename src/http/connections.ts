import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback } from '../auth/client-address.js';
import { networkOf } from '../operations/core/network-of.js';

/**
 * Cuts off connections of an address that has so many open already. This machine is exempt. `tooMany` is told of the address,
 * each time that it begins to have too many.
 */
export function limitConnections(server: Server, most: number, tooMany: (address: string) => void): void {
  const open = new Map<string, number>();
  const known = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    // one that offers another protocol is announced a second time
    if (known.has(socket) || isLoopback(remoteAddress)) return;
    known.add(socket);
    const address = networkOf(remoteAddress);
    const count = open.get(address) ?? 0;
    if (count >= most) {
      socket.destroy();
      return;
    }
    if (count + 1 === most) tooMany(address);
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = open.get(address)! - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

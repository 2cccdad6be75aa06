import { eventually } from './eventually.js';
import { type Observer, observe } from './irc-observer.js';
import { startIrcd, type TestIrcd } from './ircd.js';
import { freePort } from './ports.js';
import type { Teardown } from './server-process.js';
import { startTcpRelay, type TcpRelay } from './tcp-relay.js';

/** A network of two servers, linked until it is split. */
export interface LinkedIrcds {
  near: TestIrcd;
  far: TestIrcd;
  /** What the link between them goes through. */
  link: TcpRelay;
  /** Ends the link, and waits until neither server knows the other's users. */
  split(): Promise<void>;
  /** Links them again, and waits until each has the other's users and channels. */
  relink(): Promise<void>;
}

/** The names of the servers of a test network. */
export const serverNames = { near: 'irc.relay.internal', far: 'far.relay.internal' } as const;

const linker = { name: 'linker', password: 'linker-password' };
const secret = 'link-password';

/** What an InspIRCd needs to be linked to others: its own port for servers, and the servers it knows. */
export function linkConfig(
  links: readonly { name: string; port?: number }[],
  listen: number | undefined,
): string {
  const bind = listen === undefined ? '' : `<bind address="127.0.0.1" port="${listen}" type="servers">`;
  const known = links.map(
    ({ name, port = 1 }) =>
      `<link name="${name}" ipaddr="127.0.0.1" port="${port}" allowmask="127.0.0.0/8" timeout="10" sendpass="${secret}" recvpass="${secret}">`,
  );
  return ['<module name="spanningtree">', bind, ...known].join('\n');
}

/** Starts two servers and links them. */
export async function startLinkedIrcds(t: Teardown): Promise<LinkedIrcds> {
  const listen = await freePort();
  const link = await startTcpRelay(t, listen);
  const operator = `
<class name="Links" commands="CONNECT" privs="channels/auspex users/auspex">
<type name="Linker" classes="Links">
<oper name="${linker.name}" password="${linker.password}" host="*@127.*" type="Linker">`;
  const [near, far] = await Promise.all([
    startIrcd(t, { extraConfig: linkConfig([{ name: serverNames.far }], listen) }),
    startIrcd(t, {
      server: { name: serverNames.far, id: '2RN' },
      extraConfig: `${linkConfig([{ name: serverNames.near, port: link.port }], undefined)}${operator}`,
    }),
  ]);
  const [here, there] = await Promise.all([handOn(t, near, 'near-hand'), handOn(t, far, 'far-hand')]);
  await there.ask(`OPER ${linker.name} ${linker.password}`);
  const sees = async (one: Observer, other: Observer) =>
    (await one.ask(`ISON ${other.nick}`)).some((line) => line.includes(` :${other.nick}`));
  const untilSeen = (isSeen: boolean) =>
    eventually(
      isSeen ? 'the servers to be linked' : 'the servers to be split',
      async () => (await sees(here, there)) === isSeen && (await sees(there, here)) === isSeen,
    );
  const linked: LinkedIrcds = {
    near,
    far,
    link,
    split: async () => {
      // InspIRCd can miss the end of a connection that comes with its last bytes, but no reset.
      link.cut();
      await untilSeen(false);
    },
    relink: async () => {
      await there.ask(`CONNECT ${serverNames.near}`);
      await untilSeen(true);
    },
  };
  await linked.relink();
  return linked;
}

async function handOn(t: Teardown, { port, serverPassword }: TestIrcd, nick: string): Promise<Observer> {
  const hand = await observe(port, { nick, password: serverPassword });
  t.teardown(() => hand.stop());
  return hand;
}

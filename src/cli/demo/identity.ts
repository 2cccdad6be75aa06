import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { components, RelayClient } from '../../client/index.js';
import { nickServiceNick } from '../../servers/anope-config.js';
import { lookForAnope } from '../../servers/own-network.js';
import { Failed } from '../core/failure.js';
import type { IrcViewer } from './irc-viewer.js';
import type { DemoTarget } from './target.js';

/** How long a nick service that was started for the demo may take to appear, in milliseconds. */
const appearMs = 15_000;
const identityBot = 'mrserv';

/** What the demo showed of an agent that links its wallet. */
export interface IdentityResult {
  /** What the identity bot answered to LINK over IRC. */
  identity_bot: string;
  /** Why the link was made by the API instead; `null` where the agent made it itself. */
  by_api_because: string | null;
  link: components['schemas']['IdentityLink'];
}

/**
 * An agent registers its nick, links its wallet over IRC and proves it: from nothing to level 2. Where no nick can be
 * registered it links by the API, which says nothing about the nick. Throws `Failed` and `RelayError`.
 */
export async function showIdentity(
  target: DemoTarget,
  viewer: IrcViewer,
  wallet: PrivateKeyAccount,
  say: (text: string) => void,
): Promise<IdentityResult> {
  const { api } = target.service;
  const { nick } = viewer;
  const tell = async (to: string, text: string, shown = text) => {
    const answer = await viewer.ask(to, text);
    say(`${nick} → ${to}: ${shown}`);
    say(`${to} → ${nick}: ${answer.replaceAll('\x02', '')}`);
    return answer;
  };
  const without = await whyNoNicks(target, viewer);
  if (without === null) {
    const password = randomBytes(12).toString('base64url');
    const register = () => tell(nickServiceNick, `REGISTER ${password}`, 'REGISTER <password>');
    let registered = await register();
    const seconds = Number(/at least (\d+) seconds/.exec(registered)?.[1] ?? 0);
    if (seconds > 0) {
      await delay(seconds * 1_000);
      registered = await register();
    }
    if (!/registered/i.test(registered))
      throw new Failed('the nick service did not register a nick', 'not_registered', registered);
  }
  const identity_bot = await tell(identityBot, `LINK ${wallet.address}`);
  if (without !== null) {
    say(`By the API then, which says nothing of the nick: ${without}`);
    await api.post('/identity/link', { body: { nick, wallet_address: wallet.address } });
  }
  say(`GET /identity/by-nick/${nick}: ${JSON.stringify(await linkOf(api, nick))}`);
  await prove(api, nick, wallet);
  const link = await linkOf(api, nick);
  say(`after the wallet has signed the challenge: ${JSON.stringify(link)}`);
  if (without === null && link.level !== 2) {
    throw new Failed('a link made over IRC did not reach level 2', 'not_linked', identity_bot);
  }
  return { identity_bot, by_api_because: without, link };
}

/** Why no nick can be registered, or `null`. A network that was started for the demo may not have its nick service yet. */
async function whyNoNicks({ own }: DemoTarget, viewer: IrcViewer): Promise<string | null> {
  const found = lookForAnope();
  const isComing = own && 'binary' in found;
  const deadline = Date.now() + (isComing ? appearMs : 0);
  while (!(await viewer.isThere(nickServiceNick))) {
    if (own && 'without' in found) return found.without;
    if (Date.now() >= deadline) return `${nickServiceNick} is not on this network`;
    await delay(500);
  }
  return null;
}

async function prove(api: RelayClient, nick: string, wallet: PrivateKeyAccount): Promise<void> {
  const { challenge } = await api.post('/identity/verify-challenge', { body: { nick } });
  const signature = await wallet.signMessage({ message: challenge });
  await api.post('/identity/verify-signature', { body: { nick, signature } });
}

async function linkOf(api: RelayClient, nick: string): Promise<IdentityResult['link']> {
  return await api.get('/identity/by-nick/{nick}', { params: { path: { nick } } });
}

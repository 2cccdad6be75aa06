import { z } from 'zod';
import type { Tx } from '../../../projections/core/sql.js';
import { linkOfNick, linkOfWallet, standingsOfNicks } from '../../../projections/identity/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import { isWalletAddress, noWalletLinked } from '../../../streams/identity/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { exampleOf } from '../core/example.js';
import { addressForm, Nick, nickname, Time, walletAddress } from '../core/fields.js';
import { defineOperation, operationsOf } from '../core/operation.js';
import { scope } from '../core/rights.js';
import { askingOf, type IdentityParts, readLinks } from './parts.js';

const define = operationsOf({ tag: 'Identity' });

const Wallet = z.string().refine(isWalletAddress, 'must be 0x and 40 hexadecimal digits').meta({
  description: 'Ethereum address, in any case',
  form: addressForm,
  example: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
});
const Link = z
  .object({
    nick: nickname.describe('In lower case'),
    wallet_address: walletAddress,
    verified: z
      .literal([0, 1])
      .meta({ description: '1: a signature of the wallet was verified', example: 1 }),
    linked_at: Time,
    last_seen: Time,
    level: z
      .int()
      .min(0)
      .max(3)
      .meta({ description: '0 anonymous, 1 linked, 2 verified, 3 registered', example: 2 }),
    agent_id: z.int().nullable().describe('ERC-8004; 0 is a real one'),
  })
  .meta({ id: 'IdentityLink' });

/** The wallet of a nick. */
export const getLinkOfNick = define('getLinkOfNick', {
  summary: 'The wallet of a nick',
  description:
    '`verified` is 1 when the wallet has signed for the nick. `level` (0 to 3) says how much the link proves: look at it before you send money.',
  input: z.object({ nick: Nick }),
  says: 'The link',
  output: Link,
  refusals: { validation_failed: 'That is no nick', wallet_not_linked: 'No wallet is linked' },
  http: { method: 'get', path: '/identity/by-nick/{nick}' },
  remote: { service: 'mrserv', method: 'get', path: '/api/identity/by-nick/{nick}' },
  run: async ({ nick }, _caller, parts: IdentityParts) => {
    const link = await readLinks(parts, (sql, schema) => linkOfNick(sql, schema, casefold(nick)));
    if (!link) throw noWalletLinked();
    return link;
  },
});

/** The nick of a wallet. */
export const getLinkOfWallet = define('getLinkOfWallet', {
  summary: 'The nick of a wallet',
  description: 'The same record as that of the nick. The address is compared in any case.',
  input: z.object({ address: Wallet }),
  says: 'The link',
  output: Link,
  refusals: { validation_failed: 'That is no address', nick_not_linked: 'No nick is linked' },
  http: { method: 'get', path: '/identity/by-wallet/{address}' },
  remote: { service: 'mrserv', method: 'get', path: '/api/identity/by-wallet/{address}' },
  run: async ({ address }, _caller, parts: IdentityParts) => {
    const link = await readLinks(parts, (sql, schema) => linkOfWallet(sql, schema, address));
    if (!link) throw new Refusal('nick_not_linked');
    return link;
  },
});

/** The link of each of some nicks (casefolded) that has one. Lists of agents are made with it. */
export const listStandings = defineOperation('listStandings', {
  input: z.object({ nicks: z.array(z.string()).max(100) }),
  remote: { service: 'mrserv', method: 'post', path: '/api/identity/standings' },
  run: async ({ nicks }, _caller, parts: IdentityParts) =>
    await readLinks(parts, (sql, schema) => standingsOfNicks(sql, schema, nicks)),
});

/** Links a nick and a wallet. */
export const linkWallet = define('linkWallet', {
  summary: 'Link a nick and a wallet',
  description: 'Such a link confers nothing until the nick confirms it over IRC, identified.',
  access: scope('operate'),
  input: z.object({ nick: Nick, wallet_address: Wallet }),
  status: 201,
  says: 'They are linked',
  output: { schema: Link, example: { ...(exampleOf(Link) as object), verified: 0, level: 0 } },
  refusals: { nick_linked: 'The nick is linked already', wallet_linked: 'The wallet is linked already' },
  http: { method: 'post', path: '/identity/link' },
  remote: { service: 'mrserv', method: 'post', path: '/api/identity/link' },
  run: async ({ nick: given, wallet_address }, caller, parts: IdentityParts) => {
    const nick = casefold(given);
    const { registry } = parts.identity;
    const { position } = await registry.link(nick, wallet_address, false, askingOf(caller));
    const linked = (sql: Tx, schema: string) => linkOfNick(sql, schema, nick);
    const link = await parts.readModels.read('identity_links', linked, position);
    // who reads too late to see it, or after the next command, gets what was made
    return link ?? newLink(nick, wallet_address, new Date());
  },
});

/** Undoes the link of a nick. */
export const unlinkWallet = define('unlinkWallet', {
  summary: 'Undo the link of a nick',
  description: 'With an API key, or signed by the linked wallet.',
  access: scope('operate', { as: 'nick', wallet: 'linked' }),
  input: z.object({ nick: Nick }),
  says: 'They are not linked any more',
  output: z.object({ unlinked: z.literal(true), nick: nickname }),
  refusals: { wallet_not_linked: 'No wallet is linked' },
  http: { method: 'delete', path: '/identity/link/{nick}' },
  remote: { service: 'mrserv', method: 'delete', path: '/api/identity/link/{nick}' },
  run: async (input, caller, { identity: { registry } }: IdentityParts) => {
    const nick = casefold(input.nick);
    await registry.unlink(nick, askingOf(caller));
    return { unlinked: true, nick };
  },
});

function newLink(nick: string, wallet_address: string, at: Date) {
  const linked_at = at.toISOString();
  return { nick, wallet_address, verified: 0, linked_at, last_seen: linked_at, agent_id: null, level: 0 };
}

import pino from 'pino';
import type { Test } from 'tap';
import { walletChallenges } from '../../src/operations/identity/challenges.js';
import { IdentityRegistry } from '../../workers/identity/index.js';
import { newWallet, publicUrl } from '../auth/stage.js';
import { openLog } from '../identity/log.js';
import { identityStage } from '../identity/stage.js';
import type { TestNats } from '../support/nats.js';

/** The operator's key of these services. */
export const operatorKey = 'k'.repeat(40);
/** The headers of the operator. */
export const operator = { 'x-api-key': operatorKey };

/** The service, wallets that sign, and nicks that are linked and verified. */
export async function keysStage(t: Test, environment: Record<string, string> = {}, server?: TestNats) {
  const stage = await identityStage(
    t,
    { PUBLIC_URL: publicUrl, API_KEYS: `ops:${operatorKey}`, NONCE_RATE_LIMIT: '0', ...environment },
    server,
  );
  const { ask } = stage;
  const log = await openLog(t, stage.nats);
  const registry = new IdentityRegistry({
    log,
    logger: pino({ level: 'silent' }),
    agents: undefined,
    challenges: walletChallenges(log, 1),
  });
  type TestWallet = ReturnType<typeof newWallet>;

  /** Sends a request that a wallet has signed. */
  const signed = async (wallet: TestWallet, method: string, path: string, body?: object) => {
    const { nonce } = (await ask('GET', '/auth/erc8128/nonce')).body;
    const init = body
      ? { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      : { method };
    const request = await wallet.sign(publicUrl + path, init, { nonce });
    return await ask(method, path, body, request.headers);
  };
  /** Links a nick and a wallet as the identified nick does, and proves the wallet. */
  const proven = async (nick: string, wallet: TestWallet = newWallet()) => {
    await registry.link(nick, wallet.account.address, true, { by: nick });
    const { status } = await stage.verify(nick, wallet.account);
    if (status !== 200) throw new Error(`the wallet of ${nick} was not verified: ${status}`);
    return wallet;
  };
  /** A key that the operator gives to a nick. */
  const given = async (nick: string, scopes: string[], more: object = {}) => {
    const { status, body } = await ask('POST', '/auth/keys', { nick, scopes, ...more }, operator);
    if (status !== 201) throw new Error(`no key for ${nick}: ${status} ${JSON.stringify(body)}`);
    return { id: body.id as string, headers: { 'x-api-key': body.key as string } };
  };
  /** Calls a tool; resolves with the answer of JSON-RPC. */
  const tool = async (name: string, args: object, headers: Record<string, string>) => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    return (await ask('POST', '/mcp', request, headers)).body;
  };
  return { ...stage, log, registry, signed, proven, given, tool };
}

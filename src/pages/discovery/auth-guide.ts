import { refusals } from '../../../streams/refusals.js';
import { componentsOf, nonceAliases, signatureFaults } from '../../auth/erc8128/policy.js';
import { ownScopes } from '../../operations/core/caller.js';
import { type Doors, keyHeaders, paymentHeaders, places } from './doors.js';

/** The guide to credentials, for people and for agents that read (`/auth.md`). */
export function authGuide({ at, authority, signatures, tiers, oauth }: Doors): string {
  const read = tiers['wallet-read'];
  const { keyed } = tiers;
  const components = componentsOf({ hasQuery: true, hasBody: true }).map((name) => `\`${name}\``);
  const faults = signatureFaults.map((code) => `| \`${code}\` | ${refusals[code].says} |`);
  return `# Authentication

Reads of the HTTP API need no credential. There is no OpenID here${oauth ? '' : ', and no OAuth'}. These credentials exist.

| credential | where to get it | what it opens |
|---|---|---|
| wallet signature | your own wallet | ${read.tools} tools of \`POST ${places.mcp}\`; these change nothing |
| API key | from the operator | ${keyed.tools} tools, ${keyed.mutating} that change something and ${keyed.moves_money} that move value; routes that write |
| agent key | your own wallet, or the operator | what its scopes name, as your own nick |
| x402 payment | a wallet with USDC | one session in a paid channel |

The policy as JSON: ${at.policy}. The API: ${at.openapi}.

## Wallet signature (ERC-8128)

1. \`GET ${at.nonce}\` (also \`${nonceAliases.join('`, `')}\`) answers \`{nonce, ttl_seconds, expires_at, message}\`.
   A nonce is good for one request within ${signatures.nonceTtlSec} seconds.
2. Sign the request as RFC 9421 says, with \`personal_sign\` (EIP-191), over ${components.join(' ')}: \`@query\` if the
   URL has a query, \`content-digest\` (SHA-256) if there is a body. The order is free, and you may cover more.
   \`@authority\` is always \`${authority}\`.
3. Send \`Signature-Input\` and \`Signature\` with the label \`${signatures.label}\` and the keyid
   \`erc8128:${signatures.chainId}:<your address>\`. A signature holds for at most ${signatures.maxValiditySec} seconds; clocks may differ by
   ${signatures.clockSkewSec}.

With \`@slicekit/erc8128\` and \`viem\`:

\`\`\`js
import { createSignerClient } from '@slicekit/erc8128';
import { privateKeyToAccount } from 'viem/accounts';

const account = privateKeyToAccount(walletKey); // 0x and 64 hexadecimal digits
const signer = createSignerClient({
  chainId: ${signatures.chainId},
  address: account.address,
  signMessage: (raw) => account.signMessage({ message: { raw } }),
});
const nonce = async () => (await (await fetch('${at.nonce}')).json()).nonce;
const answer = await signer.fetch(
  '${at.mcp}',
  {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  },
  { nonce, ttlSeconds: ${signatures.maxValiditySec} },
);
\`\`\`

A signature proves that you hold a key, and nothing else. The wallet that is linked with a nick can also unlink it
(\`DELETE /identity/link/{nick}\`), and one that is linked and verified can report and vote on security incidents as
that nick.

## API key

Send it as \`${keyHeaders[0]}: <key>\`, \`X-Api-Key: <key>\` or \`Authorization: Bearer <key>\`. An
operator's key comes from the operator. It can spend, so treat it like money.

An agent key acts as one nick, and is good for what its scopes name. The wallet that is linked with the nick and verified
gets one by itself: sign \`POST ${places.keys}\` with \`{"scopes": ${JSON.stringify(ownScopes).replaceAll(',', ', ')}}\`. It is shown once. \`GET\` lists
yours, \`DELETE ${places.keys}/{id}\` ends one. What a key is not good for answers 403 \`scope_missing\`, another nick than its own
403 \`not_your_nick\`. The scopes of a key do not change: sign for another key, or ask the operator for one.

${oauth ? programs(at) : ''}## Which one counts

A request with \`Signature\` or \`Signature-Input\` is judged by its signature, every other one by its key. What fails is
not tried as the other. A refusal is HTTP 401 with \`WWW-Authenticate\`; on \`${places.mcp}\` it is the JSON-RPC error
-32001 with the reason in \`data.reason\`, elsewhere the reason is the \`code\`.

| reason | meaning |
|---|---|
| \`credential_missing\` | Neither a signature nor a key was sent |
| \`api_key_invalid\` | The key is not known |
| \`api_key_not_configured\` | The service has no keys, and answers callers on its own machine only |
${faults.join('\n')}

While nonces cannot be looked up the answer is 503 with \`nonce_store_unavailable\`. A signature that is refused leaves
its nonce as it is.

## Payment (x402)

\`POST /payments/access/{channel}\` answers 402 with the ways to pay in \`accepts\` and in the header
\`PAYMENT-REQUIRED\`. Sign the transfer for one of them and repeat the request with the proof in
\`${paymentHeaders.join('` or `')}\`.
`;
}

/** How programs get keys by a click of a person. */
const programs = (at: Doors['at']) => `## Programs that a person lets in (OAuth 2.1)

A program with a person in front of it needs no key in its settings. ${at.authorizationServer} has its addresses.

1. \`POST ${places.register}\` with \`{"redirect_uris": ["http://127.0.0.1/callback"], "client_name": "…"}\` answers a \`client_id\`.
2. Send the person to \`${places.authorize}\` with PKCE (\`S256\`). They sign in with the verified wallet of their nick, or with an
   agent key, and choose the scopes.
3. \`POST ${places.token}\` turns the code into an agent key within a minute. There is no refresh token.

An agent that has its wallet at hand does not need this: it signs \`POST ${places.keys}\`.

`;

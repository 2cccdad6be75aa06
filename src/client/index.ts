export type { components, operations, paths } from './api.js';
export {
  type Ask,
  createClient,
  type Fetch,
  type RelayClient,
  type RelayClientOptions,
} from './client.js';
export { type BadField, RelayError } from './error.js';
export { type WalletAccount, walletFetch } from './wallet.js';
export type {
  ConnectionState,
  Heard,
  InboxMessage,
  IrcMessage,
  ListenOptions,
  WatchOptions,
} from './watch.js';
export {
  type EventReceipt,
  type MarketEvent,
  type Received,
  type SignatureHeaders,
  signEvent,
  signQuestion,
} from './webhook.js';

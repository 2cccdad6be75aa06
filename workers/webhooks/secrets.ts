import { createHmac, randomBytes } from 'node:crypto';
import { type KV, StorageType } from 'nats';
import { isExpected, type Log, Unavailable } from '../../streams/core/index.js';

const bucketName = 'relay_webhooks';
const description = 'The secret that those of all webhooks are made from.';
const keyName = 'secret';
const decoder = new TextDecoder();

/**
 * The secrets of webhooks. Each is made from one secret of the service and from the id in the facts, so that no fact and no
 * read has it. The one secret is made once, and is on the log server next to the log, where every process finds it.
 */
export class WebhookSecrets {
  readonly #log: Log;
  readonly #replicas: number;
  #secret: Promise<Uint8Array> | undefined;

  constructor(log: Log, replicas: number) {
    this.#log = log;
    this.#replicas = replicas;
  }

  /** The secret of a webhook. Throws `log_unavailable` when the log server does not answer. */
  async of(nick: string, secretId: string): Promise<string> {
    this.#secret ??= this.#log.ask(() => this.#find());
    const secret = await this.#secret.catch((error: unknown) => {
      this.#secret = undefined;
      if (isExpected(error)) throw error;
      throw new Unavailable('log_unavailable', `The event log did not answer: ${(error as Error).message}`);
    });
    return `whs_${createHmac('sha256', secret).update(`${nick} ${secretId}`).digest('base64url')}`;
  }

  async #find(): Promise<Uint8Array> {
    const bucket = await this.#log.connection
      .jetstream()
      .views.kv(bucketName, { description, storage: StorageType.File, history: 1, replicas: this.#replicas });
    return (await read(bucket)) ?? (await this.#make(bucket));
  }

  async #make(bucket: KV): Promise<Uint8Array> {
    // of two processes that make one, the first is right
    await bucket.create(keyName, randomBytes(32).toString('base64url')).catch(() => undefined);
    const found = await read(bucket);
    if (!found) throw new Error('the secret of webhooks could not be stored');
    return found;
  }
}

async function read(bucket: KV): Promise<Uint8Array | undefined> {
  const entry = await bucket.get(keyName);
  return entry ? Buffer.from(decoder.decode(entry.value), 'base64url') : undefined;
}

import type { ConnectionOptions, Msg, MsgHdrs, NatsConnection, Payload, PublishOptions } from 'nats';
import { NatsConnectionImpl } from 'nats/lib/nats-base-client/nats.js';
import { ProtocolHandler, type SubscriptionImpl } from 'nats/lib/nats-base-client/protocol.js';
import { type Deferred, deferred, timeout } from 'nats/lib/nats-base-client/util.js';
import type { Link, ToClient, ToServer } from './link.js';
import { bytesOf, headersOf, nothing, textOf, type WireMessage } from './wire.js';

/** Where clients find the server. */
export interface Reachable {
  /** Rejects when nobody listens. */
  accept(name: string, end: { receive(message: ToClient): void; broken(): void }): Promise<Link>;
  readonly version: string;
}

/** A message as a client hands it out; its headers are looked into when somebody asks for them. */
class ReceivedMessage implements Msg {
  readonly subject: string;
  readonly reply: string;
  readonly data: Uint8Array;
  readonly sid: number;
  /** What acknowledges it: the client library asks for it under this name. */
  readonly publisher: ProtocolHandler;
  #headers: WireMessage['headers'];

  constructor({ subject, reply, data, headers }: WireMessage, sid: number, publisher: ProtocolHandler) {
    this.subject = subject;
    this.reply = reply;
    this.data = data;
    this.sid = sid;
    this.publisher = publisher;
    this.#headers = headers;
  }

  // the type has it optional, not undefined
  get headers(): MsgHdrs {
    const headers = headersOf(this.#headers);
    this.#headers = headers;
    return headers as MsgHdrs;
  }

  respond(data?: Payload, options?: PublishOptions): boolean {
    if (!this.reply) return false;
    this.publisher.publish(this.reply, data ?? nothing, options);
    return true;
  }

  json<T>(reviver?: (this: unknown, key: string, value: unknown) => unknown): T {
    return JSON.parse(this.string(), reviver) as T;
  }

  string(): string {
    return textOf(this.data);
  }
}

/** The client library with objects in place of bytes and a simulated link in place of a socket; all else is its own. */
class SimulatedProtocol extends ProtocolHandler {
  readonly #server: Reachable;
  #link: Link | undefined;
  /** What waits for a connection. */
  #unsent: ToServer[] = [];

  constructor(server: Reachable, options: ConnectionOptions, connection: NatsConnectionImpl) {
    super(options, connection);
    this.#server = server;
    this.infoReceived = true;
    // what the library closes when it gives a connection up
    Object.assign(this, { transport: { close: () => this.#leave(), disconnect: () => this.#drop() } });
  }

  override async _doDial(server: unknown): Promise<void> {
    this.dispatchStatus({ type: 'reconnecting', data: String(server) } as never);
    this.resetOutbound();
    this.#unsent = [];
    const bound = timeout<Link>(this.options.timeout ?? 20_000);
    const accepted = this.#server.accept(this.options.name ?? '', {
      receive: (message) => this.#receive(message),
      broken: () => this.#lost(),
    });
    let link: Link;
    try {
      link = await Promise.race([accepted, bound]);
    } catch (error) {
      // it may still come about
      void accepted.then((late) => late.leave()).catch(() => {});
      throw error;
    } finally {
      bound.cancel();
    }
    if (this.isClosed()) {
      link.leave();
      return;
    }
    this.#link = link;
    this.connected = true;
    const [major, minor, micro] = this.#server.version.split('.').map(Number);
    this.features.update({ major: major!, minor: minor!, micro: micro! });
    this.info = { version: this.#server.version, headers: true, max_payload: 1_048_576 } as never;
    this.connectedOnce = true;
    this.server.didConnect = true;
    this.server.reconnects = 0;
    for (const subscription of this.subscriptions.all()) this._sub(subscription);
    for (const message of this.#unsent.splice(0)) link.toServer(message);
    this.heartbeats.start();
  }

  override publish(subject: string, payload: Payload = nothing, options: PublishOptions = {}): void {
    const data = typeof payload === 'string' ? bytesOf(payload) : payload;
    // the library's own headers become bytes here, too: whoever wrote them may change them afterwards
    const headers = options.headers && (options.headers as unknown as { encode(): Uint8Array }).encode();
    this.outMsgs += 1;
    this.#tell({
      is: 'publish',
      message: {
        subject,
        reply: options.reply ?? '',
        data,
        headers: headers && headers.length > 0 ? headers : undefined,
      },
    });
  }

  override _sub({ sid, subject, queue }: SubscriptionImpl): void {
    this.#tell({ is: 'subscribe', sid, subject, queue });
  }

  override unsub(subscription: SubscriptionImpl, max?: number): void {
    if (!subscription || this.isClosed()) return;
    this.#tell({ is: 'unsubscribe', sid: subscription.sid, after: max });
    // the library counts on it being taken away, too
    (subscription as { max: number | undefined }).max = max;
  }

  override flush(pong: Deferred<void> = deferred<void>()): Promise<void> {
    this.pongs.push(pong);
    this.#tell({ is: 'ping' });
    return pong;
  }

  #tell(message: ToServer): void {
    if (this.connected && this.#link) this.#link.toServer(message);
    else this.#unsent.push(message);
  }

  #receive(received: ToClient): void {
    if (received.is === 'pong') {
      this.processPong();
      return;
    }
    this.inMsgs += 1;
    const { sid, message } = received;
    const subscription = this.subscriptions.get(sid);
    if (!subscription) return;
    subscription.received += 1;
    subscription.callback(null, new ReceivedMessage(message, sid, this));
    if (subscription.max !== undefined && subscription.received >= subscription.max)
      subscription.unsubscribe();
  }

  #lost(): void {
    if (!this.connected) return;
    this.connected = false;
    this.#link = undefined;
    if (!this.isClosed()) void this.disconnected();
  }

  /** The client itself ends a connection that it finds dead. */
  #drop(): void {
    this.#link?.leave();
    this.#lost();
  }

  async #leave(): Promise<void> {
    this.connected = false;
    this.#link?.leave();
    this.#link = undefined;
  }
}

/** A connection of the client library to a simulated server. */
export async function connectTo(server: Reachable, options: ConnectionOptions): Promise<NatsConnection> {
  const Connection = NatsConnectionImpl as unknown as new (options: ConnectionOptions) => NatsConnectionImpl;
  const connection = new Connection({ servers: 'simulated:4222', resolve: false, ...options });
  const protocol = new SimulatedProtocol(server, connection.options, connection);
  await protocol.dialLoop();
  connection.protocol = protocol;
  void (async () => {
    for await (const status of protocol.status())
      for (const listener of connection.listeners) listener.push(status);
  })();
  return connection as unknown as NatsConnection;
}

import pino from 'pino';
import { type ChannelFact, channelSubject, channels } from '../../streams/channels/index.js';
import { type AnyFact, decodeFact, Log } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { irc, isLine, type Sighting } from '../../streams/network/index.js';
import { IrcConnection } from '../../workers/irc/index.js';
import { RecordIrc, type RecordIrcOptions } from '../../workers/network/index.js';
import { eventually } from '../support/eventually.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });

/** Something that was recorded, and in which channel (casefolded). */
export type Recording = Sighting & { channel: string };

/** A recorder in this process, with a connection to the log of its own. */
export interface Recorder {
  worker: RecordIrc;
  connection: IrcConnection;
  log: Log;
  /** Stops it, once. */
  stop(): Promise<void>;
}

/** Opens the log with all streams of the house, until the end of the test. */
export async function openLog(t: Teardown, urls: string, maxBytes = 1_000_000_000): Promise<Log> {
  const log = await Log.open({ urls, name: 'stage', streams, replicas: 1, maxBytes, logger });
  t.teardown(() => log.close());
  return log;
}

/** A log, and all that is recorded in it about the network. */
export class Stage {
  readonly recorded: Recording[] = [];

  private constructor(
    private readonly t: Teardown,
    readonly nats: TestNats,
    readonly log: Log,
  ) {
    const reading = new AbortController();
    t.teardown(() => reading.abort());
    void this.#read(reading.signal);
  }

  static async open(t: Teardown): Promise<Stage> {
    const nats = await startNats(t);
    return new Stage(t, nats, await openLog(t, nats.url));
  }

  /** A started recorder of these channels. */
  async record(
    names: string[],
    place: { url: string; password?: string; oper?: { name: string; password: string } },
    options: Partial<RecordIrcOptions> & { nick?: string; natsUrl?: string } = {},
  ): Promise<Recorder> {
    const { nick = 'relay', natsUrl = this.nats.url, ...rest } = options;
    const log = await openLog(this.t, natsUrl);
    const connection = new IrcConnection({ ...place, nick, log: logger });
    const worker = new RecordIrc({ log, irc: connection, channels: names, logger, ...rest });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= worker.stop().then(() => log.close());
      return stopped;
    };
    this.t.teardown(stop);
    worker.start();
    return { worker, connection, log, stop };
  }

  /** What was recorded of one channel. */
  of(channel: string): Recording[] {
    return this.recorded.filter((one) => one.channel === casefold(channel));
  }

  /** The texts that were recorded of one channel. */
  texts(channel: string): string[] {
    return this.of(channel).flatMap((one) => (isLine(one) ? one.text : []));
  }

  gaps(channel: string): Recording[] {
    return this.of(channel).filter(({ is }) => is === 'gap');
  }

  /** Waits until something that satisfies was recorded so often. */
  async untilRecorded(what: string, predicate: (one: Recording) => boolean, times = 1): Promise<Recording> {
    const found = await eventually(what, () => {
      const those = this.recorded.filter(predicate);
      return those.length >= times && those;
    });
    return found.at(-1)!;
  }

  /** Waits until a channel was recorded as a whole so often. */
  async entered(channel: string, times = 1): Promise<Recording> {
    const isSnapshot = (one: Recording) => one.is === 'snapshot' && one.channel === casefold(channel);
    return await this.untilRecorded(`${channel} to be recorded`, isSnapshot, times);
  }

  async said(channel: string, text: string): Promise<Recording> {
    const isIt = (one: Recording) => isLine(one) && one.text === text && one.channel === casefold(channel);
    return await this.untilRecorded(`"${text}" to be recorded`, isIt);
  }

  /** Says that a managed channel was created or deleted. */
  async manage(fact: ChannelFact): Promise<void> {
    await this.log.append(channels, channelSubject(fact.data.name), fact, { by: 'stage' });
  }

  async #read(signal: AbortSignal): Promise<void> {
    for await (const entries of this.log.follow(irc, { after: 0, batch: 1_000, signal })) {
      for (const entry of entries) {
        const { data } = decodeFact(irc, entry.data, entry);
        for (const one of data.seen) this.recorded.push({ ...one, channel: casefold(data.channel) });
      }
    }
  }
}

/** The fact that a managed channel was created. */
export function created(name: string): ChannelFact & AnyFact {
  return {
    type: 'channel.created',
    data: { name, type: 'task', modes: '+nt', topic: '', metadata: {}, invite_list: [], cause: 'request' },
  };
}

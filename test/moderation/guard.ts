import { pino } from 'pino';
import { openSql } from '../../projections/core/open-sql.js';
import { Projector } from '../../projections/core/projector.js';
import { moderationModel } from '../../projections/moderation/fold.js';
import { type IncidentRecord, incidentRecords } from '../../projections/moderation/queries.js';
import { ReadModels } from '../../src/stores/read-models.js';
import { type Log, Unavailable } from '../../streams/core/index.js';
import {
  type Enforced,
  type Enforcement,
  type ModerationFact,
  moderation,
  usualThresholds,
} from '../../streams/moderation/index.js';
import { irc, ircSubject, type LineSighting } from '../../streams/network/index.js';
import { GuardChannels, type GuardOptions } from '../../workers/moderation/index.js';
import { openLog } from '../network/stage.js';
import { eventually } from '../support/eventually.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';
import { temporaryDirectory } from '../support/sql.js';

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });

/** A network that does what it is asked, and remembers. */
export class Hand {
  readonly done: Enforcement[] = [];
  isThere = true;
  outcome: (wanted: Enforcement) => Enforced = ({ act, nick }) =>
    act === 'quiet' || act === 'ban' ? { is: 'done', mask: `${nick}!*@*` } : { is: 'done' };

  readonly enforce = async (wanted: Enforcement): Promise<Enforced> => {
    if (!this.isThere) throw new Unavailable('irc_unavailable', 'IRC not connected', 1);
    this.done.push(wanted);
    return this.outcome(wanted);
  };

  /** What was done to a nick, in order. */
  to(nick: string): string[] {
    return this.done.filter((one) => one.nick === nick).map(({ act }) => act);
  }
}

/** A log with a guardian, without the rest of the service. */
export class GuardHouse {
  #seq = 0;

  private constructor(
    private readonly t: Teardown,
    readonly nats: TestNats,
    readonly log: Log,
    readonly read: GuardOptions['read'],
  ) {}

  static async open(t: Teardown): Promise<GuardHouse> {
    const nats = await startNats(t);
    const log = await openLog(t, nats.url);
    const directory = await temporaryDirectory(t);
    const sql = await openSql({ databaseUrl: '', directory: `${directory}/pg`, logger });
    const projector = new Projector({ log, sql, projections: [moderationModel], logger, watchMs: 200 });
    await projector.start();
    t.teardown(async () => {
      await projector.stop();
      await sql.close();
    });
    const models = new ReadModels(sql, projector);
    return new GuardHouse(t, nats, log, (query, after) => models.read('moderation', query, after));
  }

  /** Starts a guardian with a connection to the log of its own. */
  async guard(hand: Hand, options: Partial<GuardOptions> = {}): Promise<{ stop(): Promise<void> }> {
    const log = await openLog(this.t, this.nats.url);
    const guard = new GuardChannels({
      log,
      logger,
      thresholds: usualThresholds,
      ignored: [],
      bots: ['em-bot'],
      appealTo: 'channelserv',
      loopMinutes: 10,
      enforce: hand.enforce,
      registeredAt: async () => null,
      gatewayHosts: async () => [],
      read: this.read,
      ...options,
    });
    guard.start();
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= guard.stop();
      return stopped;
    };
    this.t.teardown(stop);
    return { stop };
  }

  /** Records lines of one channel as the recorder does; the time is now unless a line says otherwise. */
  async say(
    channel: string,
    ...lines: (Partial<LineSighting> & { nick: string; text: string })[]
  ): Promise<number> {
    const at = this.log.now().getTime();
    const seen = lines.map((line) => ({
      is: 'message' as const,
      at: Math.round(at),
      host: `u@${line.nick}.example`,
      ...line,
    }));
    const data = { channel, lines_before: this.#seq++, seen };
    const by = { by: 'record-irc' };
    return (await this.log.append(irc, ircSubject(channel), { type: 'channel.observed', data }, by)).seq;
  }

  /** Every fact of the guardian so far. */
  async facts(): Promise<ModerationFact[]> {
    const head = await this.log.head(moderation);
    const facts: ModerationFact[] = [];
    for (let seq = 1; seq <= head; seq++) {
      const fact = await this.log.at(moderation, seq);
      if (fact) facts.push(fact);
    }
    return facts;
  }

  /** Incidents in their order, with what became of them, by the read model that has all of the log. */
  async incidents(): Promise<IncidentRecord[]> {
    const seq = await this.log.head(moderation);
    const rows = await this.read((sql, schema) => incidentRecords(sql, schema, 500), {
      stream: moderation.name,
      seq,
    });
    return rows.reverse();
  }

  /** Waits until so many incidents are recorded, and none of them waits for its answer. */
  async settled(count: number): Promise<IncidentRecord[]> {
    return await eventually(`${count} incidents to be dealt with`, async () => {
      const all = await this.incidents();
      const open = all.some(
        ({ action, outcome }) => !['none', 'withhold'].includes(action) && outcome === null,
      );
      return all.length >= count && !open && all;
    });
  }
}

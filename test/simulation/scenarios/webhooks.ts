import { leased } from '../../../src/app/bots/leased.js';
import { readConfig } from '../../../src/config/config.js';
import { timeout } from '../../../streams/core/clock.js';
import { isExpected, type Log } from '../../../streams/core/index.js';
import { inbox, inboxSubjects, speech } from '../../../streams/speech/index.js';
import {
  deadMessagesDecider,
  webhookDecider,
  webhookDeliveries,
  webhooks as webhookFacts,
} from '../../../streams/webhooks/index.js';
import { DeliverWebhooks, WebhookSecrets } from '../../../workers/webhooks/index.js';
import { type Host, Outside } from '../http/outside.js';
import { SimulatedLogServer } from '../log/server.js';
import { end, type Place, Process, type Running, type Surroundings, twoPlaces } from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { planTrouble, type Trouble } from '../trouble.js';
import { neverAgain, PostedMessages } from './posted-messages.js';

const config = readConfig({});
const streams = [speech, inbox, webhookFacts, webhookDeliveries];
const nicks = ['alice', 'bob', 'carol', 'dave'];
const kinds = ['private', 'mention', 'invite', 'kick'] as const;
const people = [undefined, 'owner', 'former owner'];

const busyMs = 60_000;
const faultsPerRun = 18;
const messagesPerRun = 140;
const changesPerRun = 40;
const pausesMs = { first: 1_000, longest: 15_000 };
/** Longest pause between tries, an answer that never comes, a lease that expires, and what has waited for all that. */
const calmWithinMs = 120_000;
const calmMs = 20_000;

/** Agents have their inboxes posted, and change their minds, while their receivers, the log and the processes fail. */
export const webhooks: Scenario = {
  name: 'webhooks',
  says: 'who posts what agents are told to their webhooks, in two processes',
  kept: [250934240, 250934248, 626816049, 617203536, 5003, 40066],
  boundMs: 900_000,
  play: (stage) => new Posting(stage).play(),
};

class Posting {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #logServer: SimulatedLogServer;
  readonly #host: Host;
  readonly #posted: PostedMessages;
  readonly #around: Surroundings;
  readonly #places: Place<Running>[];
  readonly #trouble: Trouble;
  readonly #agents: Process;
  readonly #settings: { ttlMs: number; offAfterMs: number; mostWaiting: number };
  /** Keys that open nothing any more. */
  readonly #ended = new Set<string>();
  readonly #asking = new Set<Promise<unknown>>();
  #count = 0;

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#settings = {
      ttlMs: this.#random.pick([20_000, 600_000]),
      offAfterMs: this.#random.pick([15_000, 600_000]),
      mostWaiting: this.#random.pick([5, 50]),
    };
    this.#posted = new PostedMessages(stage, this.#logServer, this.#settings);
    const outside = new Outside(world);
    this.#host = outside.host('hooks.test', (asked) => this.#posted.serve(asked));
    this.#around = { stage, logServer: this.#logServer, outside, expected: /^work given up$/ };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#agents = new Process('agents', this.#around);
    this.#trouble = {
      stage,
      host: { host: this.#host, ofTen: 5 },
      log: { server: this.#logServer, ofTen: 3 },
      places: this.#places,
    };
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const log = await this.#agents.openLog(streams);
    const secrets = new WebhookSecrets(log, 1);
    const starting = this.#places.map((place) => place.start());
    for (const nick of nicks) await this.#register(log, nick, this.#random);
    const at = () => this.#random.int(0, busyMs);
    for (let n = 0; n < faultsPerRun; n++)
      planTrouble(this.#trouble, this.#random.int(1_000, busyMs), this.#random);
    for (let n = 0; n < 6; n++) this.#planMood(at());
    for (let n = 0; n < messagesPerRun; n++) this.#planMessage(at(), log);
    for (let n = 0; n < changesPerRun; n++) this.#planChange(at(), log);
    await this.#pass(busyMs);
    this.#host.heal();
    this.#logServer.heal();
    this.#posted.moods.clear();
    await Promise.all(starting);
    await Promise.all(this.#asking);
    await this.#becomeWell();
    // what was sent slowly arrives, even from processes that are gone by now
    await this.#pass(15_000);
    for (const nick of nicks) await this.#register(log, nick, this.#random);
    this.#posted.calmFrom = stage.world.now;
    for (let n = 0; n < 20; n++) this.#planMessage(stage.world.elapsed + this.#random.int(0, calmMs), log);
    await this.#pass(calmMs + 10_000);
    await this.#becomeWell();
    await this.#posted.judge(secrets);
    await end(this.#around, this.#places);
    await log.close();
    // requests that nobody waits for still have a timeout
    await this.#pass(20_000);
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Running> {
    const { logger, name: holder } = process;
    const log = await process.openLog(streams);
    const lease = leased(
      config,
      { log, logger, holder },
      'deliver-webhooks',
      ({ isSure }) =>
        new DeliverWebhooks({
          log,
          logger,
          secrets: new WebhookSecrets(log, 1),
          fetch: (address, { timeoutMs }, request) =>
            fetch(process.addressOf('hooks.test') + new URL(address).pathname, {
              ...request,
              signal: timeout(timeoutMs),
            }),
          ended: async (actors) => new Set(actors.filter((actor) => this.#ended.has(actor))),
          source: 'relay',
          heard: (_channel, text) => text,
          pausesMs,
          mayBegin: isSure,
          ...this.#settings,
        }),
    );
    lease.start();
    return {
      stop: async () => {
        await lease.stop();
        await log.close();
      },
    };
  }

  /** Lets time pass, and reads what newer facts soon take the place of. */
  async #pass(ms: number): Promise<void> {
    const end = this.#stage.world.elapsed + ms;
    while (this.#stage.world.elapsed < end) {
      await this.#stage.pass(500);
      this.#posted.read();
    }
  }

  /** The receiver of a nick answers this for a while. */
  #planMood(at: number): void {
    this.#stage.planFault(at, 'receiver: refuses', (random) => {
      const { moods } = this.#posted;
      const nick = random.pick(nicks);
      moods.set(nick, random.pick([...neverAgain, 401, 404, 500]));
      this.#stage.world.after(random.int(500, 30_000), () => moods.delete(nick));
    });
  }

  #planMessage(at: number, log: Log): void {
    this.#stage.plan(at, 'an agent is told something', (random) =>
      this.#ask(async () => {
        const nick = random.pick(nicks);
        const person = random.pick(people);
        const data = {
          is: random.pick(kinds),
          from: 'somebody',
          account: null,
          channel: null,
          text: `text ${++this.#count}`,
          msgid: null,
          ...(person === undefined ? {} : { person }),
        };
        await log.append(inbox, inboxSubjects(nick).now, { type: 'message.received', data }, { by: 'test' });
      }),
    );
  }

  #planChange(at: number, log: Log): void {
    this.#stage.plan(at, 'an agent changes its webhook', (random) =>
      this.#ask(() => this.#change(log, random)),
    );
  }

  async #change(log: Log, random: Random): Promise<void> {
    const nick = random.pick(nicks);
    const agent = { by: 'agent' };
    const kind = random.int(0, 9);
    if (kind < 2) await this.#register(log, nick, random);
    else if (kind < 3)
      await log.handle(webhookFacts, webhookDecider, { is: 'remove', nick, person: null }, agent);
    else if (kind < 5) {
      const after = await log.head(inbox);
      await log.handle(webhookFacts, webhookDecider, { is: 'switch on', nick, person: null, after }, agent);
    } else if (kind < 6) {
      const secret_id = `secret ${++this.#count}`;
      const change = { is: 'change secret' as const, nick, person: null, secret_id };
      await log.handle(webhookFacts, webhookDecider, change, agent);
    } else if (kind < 7) this.#ended.add((await log.last(webhookFacts, `webhooks.${nick}`))?.data.by ?? '');
    else {
      const seq = this.#posted.anyDead(nick, random);
      if (seq === undefined) return;
      await log.handle(webhookDeliveries, deadMessagesDecider, { nick, seq, person: null }, agent);
    }
  }

  async #register(log: Log, nick: string, random: Random): Promise<void> {
    const number = ++this.#count;
    const register = {
      is: 'register' as const,
      nick,
      person: random.pick(['owner', 'former owner', null]),
      by: `key ${number}`,
      url: `https://hooks.test/${nick}`,
      wants: random.shuffled(kinds).slice(0, random.int(1, kinds.length)),
      secret_id: `secret ${number}`,
      after: await log.head(inbox),
    };
    await log.handle(webhookFacts, webhookDecider, register, { by: 'agent' });
  }

  #ask(work: () => Promise<void>): void {
    const done = work().catch((error: Error) =>
      this.#stage.check('agents are refused in known ways', isExpected(error), () => `${error.stack}`),
    );
    this.#asking.add(done);
    void done.finally(() => this.#asking.delete(done));
  }

  /** What became of every message is recorded. */
  async #becomeWell(): Promise<void> {
    const open = () => this.#posted.open();
    await this.#stage.within(calmWithinMs, 'posting a message comes to its end', () => open() === '', open);
  }
}

import { leased } from '../../../src/app/bots/leased.js';
import { readConfig } from '../../../src/config/config.js';
import type { Log } from '../../../streams/core/index.js';
import { identity as identityFacts, registryDecider } from '../../../streams/identity/index.js';
import { PushIdentity } from '../../../workers/identity/push/index.js';
import { type Host, Outside } from '../http/outside.js';
import { SimulatedLogServer } from '../log/server.js';
import { end, type Place, Process, type Running, type Surroundings, twoPlaces } from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { planTrouble, type Trouble } from '../trouble.js';
import { neverAgain, ToldChanges } from './told-changes.js';

const config = readConfig({});
const nicks = ['alice', 'bob', 'carol', 'dave'];
const wallets = [1, 2, 3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}`);

const busyMs = 60_000;
const faultsPerRun = 16;
const stepsPerRun = 90;
const pausesMs = { first: 1_000, longest: 15_000 };
/**
 * The sum of: pauses between attempts, an answer that never comes, a lease that expires, and what has waited
 * for all that.
 */
const calmWithinMs = 90_000;
const calmMs = 20_000;

/** Links of nicks change, and a receiver is told, while it, the log and the processes fail. */
export const identity: Scenario = {
  name: 'identity',
  says: 'who tells a receiver of changes of links, in two processes',
  kept: [],
  boundMs: 600_000,
  play: (stage) => new Telling(stage).play(),
};

class Telling {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #logServer: SimulatedLogServer;
  readonly #host: Host;
  readonly #told: ToldChanges;
  readonly #around: Surroundings;
  readonly #places: Place<Running>[];
  readonly #trouble: Trouble;
  readonly #registrar: Process;

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#told = new ToldChanges(stage, this.#logServer, this.#random.pick([20_000, 600_000]));
    const outside = new Outside(world);
    this.#host = outside.host('receiver.test', (asked) => this.#told.serve(asked));
    this.#around = { stage, logServer: this.#logServer, outside, expected: /^work given up$/ };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#registrar = new Process('registrar', this.#around);
    this.#trouble = {
      stage,
      host: { host: this.#host, ofTen: 5 },
      log: { server: this.#logServer, ofTen: 3 },
      places: this.#places,
    };
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const log = await this.#registrar.openLog([identityFacts]);
    const starting = this.#places.map((place) => place.start());
    for (let n = 0; n < faultsPerRun; n++)
      planTrouble(this.#trouble, this.#random.int(1_000, busyMs), this.#random);
    for (let n = 0; n < 6; n++) this.#planMood(this.#random.int(0, busyMs));
    for (let n = 0; n < stepsPerRun; n++) this.#planChange(this.#random.int(0, busyMs), log);
    await stage.pass(busyMs);
    this.#host.heal();
    this.#logServer.heal();
    this.#told.moods.clear();
    await Promise.all(starting);
    await this.#becomeWell();
    // what was sent slowly arrives, even from processes that are gone by now
    await stage.pass(15_000);
    const calmFrom = stage.world.now;
    this.#told.moods.set(this.#random.pick(nicks), this.#random.pick(neverAgain));
    for (let n = 0; n < 12; n++) this.#planChange(stage.world.elapsed + this.#random.int(0, calmMs), log);
    await stage.pass(calmMs + 10_000);
    await this.#becomeWell();
    this.#told.judge(calmFrom);
    await end(this.#around, this.#places);
    await log.close();
    // requests that nobody waits for still have a timeout
    await stage.pass(20_000);
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Running> {
    const { logger, name: holder } = process;
    const log = await process.openLog([identityFacts]);
    const { secret, giveUpMs } = this.#told;
    const receiver = { url: `${process.addressOf('receiver.test')}/changes`, secret };
    const lease = leased(
      config,
      { log, logger, holder },
      'push-identity',
      ({ isSure: mayBegin }) =>
        new PushIdentity({ log, logger, source: 'relay', receiver, giveUpMs, pausesMs, mayBegin }),
    );
    lease.start();
    return {
      stop: async () => {
        await lease.stop();
        await log.close();
      },
    };
  }

  /** The receiver refuses the changes of a nick for a while, with this status. */
  #planMood(at: number): void {
    this.#stage.planFault(at, 'receiver: refused nick', (random) => {
      const { moods } = this.#told;
      const nick = random.pick(nicks);
      moods.set(nick, random.pick([...neverAgain, 401, 404, 500]));
      this.#stage.world.after(random.int(500, 30_000), () => moods.delete(nick));
    });
  }

  #planChange(at: number, log: Log): void {
    this.#stage.plan(at, 'somebody changes a link', (random) => {
      void this.#change(log, random).catch((error: { kind?: string; stack?: string }) => {
        const isKnown = error.kind === 'unavailable' || error.kind === 'refusal';
        this.#stage.check('commands are refused in known ways', isKnown, () => String(error.stack));
      });
    });
  }

  async #change(log: Log, random: Random): Promise<void> {
    const nick = random.pick(nicks);
    const by = { by: 'registrar' };
    const wallet_address = random.pick(wallets);
    const agent_id = random.chance(0.3) ? null : random.int(0, 9);
    const { state } = await log.handle(identityFacts, registryDecider, { is: 'look', nick }, by);
    const link = state.links.get(nick);
    if (!link) {
      const command = { is: 'link' as const, nick, wallet_address, identified: random.chance(0.5) };
      await log.handle(identityFacts, registryDecider, command, by);
    } else if (random.chance(0.2)) {
      await log.handle(identityFacts, registryDecider, { is: 'unlink', nick }, by);
    } else if (link.verified) {
      const command = { is: 'note agent' as const, nick, wallet_address: link.walletAddress, agent_id };
      await log.handle(identityFacts, registryDecider, command, by);
    } else {
      const { id, walletAddress: signer } = link;
      const challenge = { text: 'any', expiresAt: this.#stage.world.now + 60_000 };
      const verify = { is: 'verify' as const, nick, link: id, challenge, signer, agent_id };
      await log.handle(identityFacts, registryDecider, verify, by);
    }
  }

  /** The outcome of every change is recorded. */
  async #becomeWell(): Promise<void> {
    const open = () => this.#told.open();
    await this.#stage.within(calmWithinMs, 'telling a change comes to its end', () => open() === '', open);
  }
}

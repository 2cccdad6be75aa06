import { hostFaults } from './http/faults.js';
import type { Host } from './http/outside.js';
import type { Faults } from './irc/faults.js';
import { logFaults } from './log/faults.js';
import type { SimulatedLogServer } from './log/server.js';
import type { Place, Running } from './process.js';
import type { Random } from './random.js';
import type { Stage } from './scenario.js';
import { storeFaults } from './store/faults.js';
import type { SimulatedStore } from './store/server.js';

/** What can fail in a world, and in how many of ten cases it does. In all others a process is killed. */
export interface Trouble {
  stage: Stage;
  irc?: { faults: Faults; ofTen: number };
  /** A host outside. */
  host?: { host: Host; ofTen: number };
  log: { server: SimulatedLogServer; ofTen: number; isClockSet?: boolean };
  store?: { server: SimulatedStore; ofTen: number };
  places: Place<Running>[];
}

/** Plans a fault for a time, in milliseconds since the world began. */
export function planTrouble(trouble: Trouble, at: number, chance: Random): void {
  const { stage, irc, host, log, store, places } = trouble;
  const { world } = stage;
  let left = chance.int(0, 9);
  const isTurnOf = <Part extends { ofTen: number }>(part: Part | undefined): part is Part => {
    left -= part?.ofTen ?? 0;
    return part !== undefined && left < 0;
  };
  if (isTurnOf(irc)) {
    const name = irc.faults.any(chance);
    stage.planFault(at, name, (random) => irc.faults.strike(name, random));
  } else if (isTurnOf(host)) {
    const fault = chance.pick(hostFaults);
    stage.planFault(at, fault.name, (random) => fault.strike(host.host, world, random));
  } else if (isTurnOf(log)) {
    const fault = chance.pick(logFaults.filter(({ name }) => log.isClockSet || name !== 'set clock'));
    stage.planFault(at, `log: ${fault.name}`, (random) => fault.strike(log.server, world, random));
  } else if (isTurnOf(store)) {
    const fault = chance.pick(storeFaults);
    stage.planFault(at, fault.name, (random) => fault.strike(store.server, world, random));
  } else stage.planFault(at, 'killed process', (random) => random.pick(places).kill(random));
}

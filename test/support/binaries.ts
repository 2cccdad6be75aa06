import { type Binary, findInspircd, findNatsServer } from '../../src/servers/binaries.js';

let nats: Binary | undefined;
let irc: Binary | undefined;

/** The nats-server that tests run. It is looked for once: it is started to tell its version. */
export const natsServer = (): Binary => (nats ??= findNatsServer());

/** The InspIRCd that tests run, looked for once. */
export const inspircd = (): Binary => (irc ??= findInspircd());

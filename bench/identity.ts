import { walletChallenges } from '../src/operations/identity/challenges.js';
import type { Log } from '../streams/core/index.js';
import { type IdentityFact, identity, registrySubject } from '../streams/identity/index.js';
import { IdentityRegistry } from '../workers/identity/index.js';
import type { Bench, Row } from './support/bench.js';
import { median, milliseconds, perSecond, whole } from './support/figures.js';
import { inParallel, openLog, quiet, seedsAtATime } from './support/log.js';
import { startNats, temporaryFolder } from './support/servers.js';

const atATime = 64;
const asking = { by: 'bench', via: 'api' as const };
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;

/** Links and unlinks through the identity registry, which decides all of them on one subject. */
export async function identities(t: Bench): Promise<Row[]> {
  const commands = t.size(2_000, 200);
  const links = t.size(100_000, 5_000);
  const rounds = t.size(3, 1);
  const dataDir = await temporaryFolder(t);

  const small = await openLog(t, await startNats(t, { sync: 'always' }));
  const few = newRegistry(small);
  await few.link('first', address(1), false, asking);
  const filler = await startNats(t, { dataDir });
  await fill(t, await openLog(t, filler), links);
  await filler.stop();
  const large = await openLog(t, await startNats(t, { dataDir, sync: 'always' }));
  const many = newRegistry(large);
  t.progress('the first command on many links');
  const started = performance.now();
  await many.link('first', address(links), false, asking);
  const firstMs = performance.now() - started;

  const floorMs: number[] = [];
  const fewMs: number[] = [];
  const manyMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    t.progress(`round ${round + 1} of ${rounds}`);
    floorMs.push(await bareAppends(small, round, commands));
    fewMs.push(await carryOut(few, round, commands));
    manyMs.push(await carryOut(many, round, commands));
  }
  const [ours, withMany] = [fewMs, manyMs].map((all) => perSecond(commands, median(all), 'commands'));
  const compare = (all: number[], others: number[]) => median(all.map((ms, round) => others[round]! / ms));
  return [
    {
      measured: `identity commands, ${atATime} asked at a time, each decided on the one subject of all links`,
      ours: ours!,
      against: `appends to one subject, each expecting the one before: ${perSecond(commands, median(floorMs), 'appends')}`,
      ratio: compare(fewMs, floorMs),
    },
    {
      measured: `the same with ${whole(links)} links`,
      ours: withMany!,
      against: `with one link: ${ours}`,
      ratio: compare(manyMs, fewMs),
    },
    {
      measured: `the first command of a process, which reads ${whole(links)} links`,
      ours: milliseconds(firstMs),
      against: '',
    },
  ];
}

const newRegistry = (log: Log) =>
  new IdentityRegistry({ log, logger: quiet, agents: undefined, challenges: walletChallenges(log, 1) });

function linked(n: number): IdentityFact {
  const data = { nick: `seed${n}`, wallet_address: address(n), identified: false };
  return { type: 'identity.linked', data };
}

async function fill(t: Bench, log: Log, count: number): Promise<void> {
  t.progress(`${count} links are put on the log`);
  await inParallel(count, seedsAtATime, async (n) => {
    await log.append(identity, registrySubject, linked(n), { by: 'bench' });
  });
}

/** Milliseconds for as many commands: half of them links, the other half their unlinks. */
async function carryOut(registry: IdentityRegistry, round: number, commands: number): Promise<number> {
  const started = performance.now();
  await inParallel(commands / 2, atATime, async (n) => {
    const nick = `r${round}-${n}`;
    await registry.link(nick, address(1e9 + n), false, asking);
    await registry.unlink(nick, asking);
  });
  return performance.now() - started;
}

/** Milliseconds for as many appends of the same facts that nobody decides about, on a subject that is nobody's. */
async function bareAppends(log: Log, round: number, count: number): Promise<number> {
  const started = performance.now();
  let last = 0;
  for (let n = 0; n < count; n++) {
    const appended = await log.appendNext(identity, `identity.bench${round}`, linked(n), asking, last);
    if (!appended) throw new Error('somebody else has appended');
    last = appended.seq;
  }
  return performance.now() - started;
}

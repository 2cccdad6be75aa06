import t from 'tap';
import { startIrcd } from '../support/ircd.js';
import { credentials, startBot } from './bot.js';

const lines = 20_000;
const bytes = 110;

t.test('how many lines a second one connection confirms', { timeout: 120_000 }, async (t) => {
  const ircd = await startIrcd(t);
  const session = await startBot(t, credentials(ircd)).session();
  const channels = Array.from({ length: 200 }, (_, n) => `#load-${n}`);
  await session.join(channels, { history: false });
  for (const round of ['cold', 'warm']) {
    const waits: number[] = [];
    let next = 0;
    const cpu = process.cpuUsage();
    const began = performance.now();
    await Promise.all(
      channels.map(async (channel) => {
        for (let n = next++; n < lines; n = next++) {
          const sent = performance.now();
          const outcome = await session.say(channel, `${n} `.padEnd(bytes, 'x'), `event-${n}`);
          waits.push(performance.now() - sent);
          if (outcome.is !== 'confirmed') throw new Error(JSON.stringify(outcome));
        }
      }),
    );
    const seconds = (performance.now() - began) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    waits.sort((a, b) => a - b);
    const at = (share: number) => waits[Math.floor(lines * share)]!.toFixed(2);
    t.comment(
      `${round}: ${Math.round(lines / seconds)} lines/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ` +
        `${((user + system) / lines).toFixed(1)} µs CPU a line`,
    );
    t.equal(waits.length, lines);
  }
});

t.test('5,000 channels are joined again', { timeout: 120_000 }, async (t) => {
  const ircd = await startIrcd(t);
  const channels = Array.from({ length: 5_000 }, (_, n) => `#task-${n.toString().padStart(8, '0')}`);
  for (const what of ['created', 'joined again']) {
    const bot = startBot(t, credentials(ircd));
    const session = await bot.session();
    const began = performance.now();
    const outcomes = await session.join(channels, { history: true });
    t.comment(`5,000 channels ${what} in ${Math.round(performance.now() - began)} ms`);
    t.ok(
      [...outcomes.values()].every(
        (outcome) => outcome.is === 'joined' && outcome.status === (outcome.created ? 'op' : 'voice'),
      ),
    );
    await bot.connection.stop();
  }
});

import t from 'tap';
import { type Fault, randomFrom } from './fault.js';
import { play } from './play.js';
import { Stage } from './stage.js';

/**
 * The short forms of faults as tests, each under the requirements that it proves: one after the other on one
 * stage, which is the one of the first. What leaves lines in doubt comes last.
 */
export function shortForms(...forms: [ids: string, fault: Fault][]): void {
  const [, { name, stage: options, short, impossible }] = forms[0]!;
  t.test(`${name} …`, { skip: impossible?.() ?? false, timeout: 280_000 }, async (t) => {
    const stage = await Stage.open(t, randomFrom(1), { channels: 20, ...options?.(short) });
    for (const [ids, fault] of forms) {
      await t.test(`${ids} ${fault.what}`, async (t) => {
        const { violations, events, recoveryMs, seconds } = await play(stage, fault, fault.short);
        t.comment(`${events} events up to now, ${seconds} s, back in ${recoveryMs?.longest ?? '-'} ms`);
        t.same(violations, []);
      });
    }
  });
}

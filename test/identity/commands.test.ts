import t from 'tap';
import { Refusal } from '../../streams/core/index.js';
import { answerTo, type CommandContext } from '../../workers/identity/commands.js';
import type { IdentityRegistry } from '../../workers/identity/index.js';

const noAttempts: CommandContext['attempts'] = {
  challenges: { take: async () => ({ allowed: true, resetSec: 1 }) },
  signatures: { take: async () => ({ allowed: true, resetSec: 1 }), giveBack: async () => {} },
};

t.test('IDENT-13 attempts are counted by person, before the check, and only wrong ones', async (t) => {
  const most = 3;
  const counter = () => {
    const counts = new Map<string, number>();
    return {
      counts,
      take: async (who: string) => {
        const count = counts.get(who) ?? 0;
        if (count < most) counts.set(who, count + 1);
        return { allowed: count < most, resetSec: 600 };
      },
      giveBack: async (who: string) => void counts.set(who, counts.get(who)! - 1),
    };
  };
  const attempts = { challenges: counter(), signatures: counter() };
  let checked = 0;
  const right = `0x${'1'.repeat(130)}`;
  const wrong = `0x${'2'.repeat(130)}`;
  const unasked = `0x${'3'.repeat(130)}`;
  const registry = {
    challenge: async (_nick: string, _asking: unknown, count: () => Promise<unknown>) => {
      await count();
      return { challenge: 'a text' };
    },
    verify: async (_nick: string, signature: string) => {
      checked += 1;
      if (signature === wrong) throw new Refusal('challenge_wallet_mismatch');
      if (signature === unasked) throw new Refusal('challenge_missing');
      return { walletAddress: '0xa', agentId: null, identified: true };
    },
  } as unknown as IdentityRegistry;
  const changes = { most: 1, take: async () => ({ allowed: true, resetSec: 1 }) };
  const context = { registry, changes, attempts, others: {}, linkOf: async () => undefined };
  const say = (person: string, text: string) =>
    answerTo({ nick: 'Ann', isIdentified: async () => false, person: async () => person }, text, context);
  const tooMany = 'Too many attempts to verify: again in 10 min';
  for (let n = 0; n < 5; n++) {
    t.match(await say('host a', `VERIFY ${right}`), /is verified/, 'right ones do not count');
    t.match(await say('host a', `VERIFY ${unasked}`), /./, 'nor what is not checked');
  }
  checked = 0;
  const answers = await Promise.all(Array.from({ length: 9 }, () => say('host a', `VERIFY ${wrong}`)));
  t.equal(checked, most, 'of many at once no more are checked');
  t.equal(answers.filter((answer) => answer === tooMany).length, 6);
  t.equal(await say('host a', `VERIFY ${right}`), tooMany);
  t.match(
    await say('account ann', `VERIFY ${right}`),
    /is verified/,
    'another with the same nick is not meant',
  );
  for (let n = 0; n < 3; n++) t.match(await say('host a', 'VERIFY'), /a text$/);
  t.equal(await say('host a', 'VERIFY'), tooMany);
  t.match(await say('account ann', 'VERIFY'), /a text$/);
});

t.test('IDENT-29 who has linked and unlinked too often is told when it goes on', async (t) => {
  const done: string[] = [];
  const registry = {
    unlink: async (nick: string) => void done.push(nick),
  } as unknown as IdentityRegistry;
  let left = 2;
  const changes: CommandContext['changes'] = {
    most: 2,
    take: async () => ({ allowed: left-- > 0, resetSec: 1_800 }),
  };
  const context = { registry, changes, attempts: noAttempts, others: {}, linkOf: async () => undefined };
  let isIdentified = true;
  const say = (text: string) =>
    answerTo(
      { nick: 'Ann', isIdentified: async () => isIdentified, person: async () => 'account ann' },
      text,
      context,
    );
  for (let n = 0; n < 2; n++) t.match(await say('UNLINK'), /linked no more/);
  const over = 'A nick links and unlinks 2 times an hour: again in 30 min';
  t.equal(await say('UNLINK'), over);
  t.equal(await say(`LINK 0x${'a'.repeat(40)}`), over);
  t.same(done, ['ann', 'ann']);
  left = 1;
  isIdentified = false;
  await say('UNLINK');
  t.equal(left, 1, 'who is not identified takes no place of the nick');
  t.match(await say('WHOAMI'), /level 0/, 'what changes nothing is not counted');
});

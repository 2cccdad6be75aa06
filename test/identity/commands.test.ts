import t from 'tap';
import { answerTo, type CommandContext } from '../../workers/identity/commands.js';
import type { IdentityRegistry } from '../../workers/identity/index.js';

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
  const context = { registry, changes, others: {}, linkOf: async () => undefined };
  let isIdentified = true;
  const say = (text: string) =>
    answerTo({ nick: 'Ann', isIdentified: async () => isIdentified }, text, context);
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';

t.test('an error that nobody catches fails its test file, and the tests after it run', async (t) => {
  const program = fileURLToPath(new URL('support/throws-late.js', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  t.not(child.exitCode, 0);
  t.match(said, /not ok \d+ - thrown late/);
  t.match(said, /not ok \d+ - rejected aside/);
  t.match(said, /ok \d+ - fine\n/, 'it goes on');
});

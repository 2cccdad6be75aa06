import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { clientTypes, typesFile } from '../../scripts/client-types.js';
import { staysInHttp } from '../../src/openapi/document.js';
import { descriptions } from '../../src/openapi/index.js';
import { webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startService } from '../support/service.js';
import { temporaryDirectory } from '../support/sql.js';

const run = promisify(execFile);

t.test('CLIENT-01 the types are those of the description', async (t) => {
  const [built, made] = [await readFile(typesFile, 'utf8'), await clientTypes()].map((text) =>
    text.split('\n'),
  );
  const at = made!.findIndex((line, index) => line !== built![index]);
  t.equal(built![at], made![at], `${typesFile} is that of this API; else: npm run build`);
  t.equal(built!.length, made!.length);
  const packed = await readFile('dist/src/client/api.d.ts', 'utf8');
  for (const { id } of descriptions.filter(staysInHttp))
    t.match(packed, `operations["${id}"]`, `the package knows ${id}`);
});

t.test('CLIENT-02 the package exports the client', async (t) => {
  const own = 'relay-network/client';
  const { createClient, RelayError } = (await import(own)) as typeof import('../../src/client/index.js');
  t.type(createClient({ baseUrl: 'http://127.0.0.1:1' }).get, 'function');
  t.type(RelayError, 'function');
  const inner = import('relay-network/dist/src/app.js' as string);
  await t.rejects(inner, /ERR_PACKAGE_PATH_NOT_EXPORTED|not defined by "exports"/);
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const packed = new Set(files.map(({ path }) => path));
  for (const name of ['index.js', 'index.d.ts', 'api.d.ts'])
    t.ok(packed.has(`dist/src/client/${name}`), name);
  for (const name of ['index.html', '404.html', 'search.json', 'guides/operate.html'])
    t.ok(packed.has(`dist/guide/${name}`), name);
  for (const name of ['main.js', 'cli.js']) t.ok(packed.has(`dist/src/${name}`), name);
  t.ok(
    [...packed].some((path) => path.startsWith('dist/chunks/')),
    'what the programs load',
  );
  for (const path of packed) t.notMatch(path, /^(test|bench|data|\.env$)/, path);
});

/**
 * The messages of a strict compiler about users' programs, with the package installed, by their names. All are compiled at once:
 * most of the time goes to what they share.
 */
async function compile(t: Test, programs: Record<string, string>): Promise<{ says: string[]; dir: string }> {
  const dir = await temporaryDirectory(t);
  await mkdir(join(dir, 'node_modules/@types'), { recursive: true });
  await symlink(resolve('.'), join(dir, 'node_modules/relay-network'));
  await symlink(resolve('node_modules/@types/node'), join(dir, 'node_modules/@types/node'));
  await writeFile(join(dir, 'package.json'), '{"type":"module"}');
  const files = Object.keys(programs).map((name) => join(dir, `${name}.ts`));
  for (const [name, program] of Object.entries(programs)) await writeFile(join(dir, `${name}.ts`), program);
  const result = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    types: ['node'],
    typeRoots: [join(dir, 'node_modules/@types')],
  });
  const { diagnostics } = result.emit();
  const says = [...ts.getPreEmitDiagnostics(result), ...diagnostics].map(
    ({ file, messageText }) =>
      `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
  return { says, dir };
}

/** The program of a document. */
async function programOf(document: string): Promise<string> {
  const [, program] = /```ts\n(.*?)```/s.exec(await readFile(document, 'utf8')) ?? [];
  return program!;
}

t.test(
  'CLIENT-02 the programs of the guide and of the reference compile and run, others do not',
  async (t) => {
    const head =
      "import { createClient } from 'relay-network/client';\nconst relay = createClient({ baseUrl: 'http://a' });\n";
    const wrong = {
      'a path': "await relay.get('/irc/chanels');",
      'a method': "await relay.post('/irc/channels');",
      'a parameter that is missing': "await relay.get('/identity/by-nick/{nick}');",
      'a parameter of another type':
        "await relay.get('/leaderboard/agents', { params: { query: { limit: 'all' } } });",
      'a body': "await relay.post('/identity/link', { body: { nick: 'a' } });",
      'a parameter that there is not':
        "await relay.get('/leaderboard/agents', { params: { query: { limt: 3 } } });",
      'a field of an answer': "(await relay.get('/irc/stats')).visitors;",
      'a stream that never ends':
        "await relay.get('/irc/stream', { params: { query: { channel: 'lobby' } } });",
    };
    const { says, dir } = await compile(t, {
      guide: await programOf('docs/guides/client.md'),
      reference: await programOf('docs/reference/client.md'),
      wrong: head + Object.values(wrong).join('\n'),
    });
    const isWrong = (one: string) => one.includes('wrong.ts');
    t.same(
      says.filter((one) => !isWrong(one)),
      [],
    );
    t.equal(says.filter(isWrong).length, Object.keys(wrong).length, says.join('\n'));

    const service = await startService(t, {});
    // ready is when events are taken; a channel is known when the recorder has joined it
    await eventually('#bounties to be recorded', async () => {
      await sleep(250); // within the rate of one address
      return (await (await fetch(`${service.url}/irc/channels`)).text()).includes('"#bounties"');
    });
    const env = { RELAY_URL: service.url, EM_WEBHOOK_SECRET: webhookSecret };
    const { stdout } = await run(process.execPath, [join(dir, 'guide.js')], { env, timeout: 40_000 });
    t.match(stdout, /^#bounties \d+$/m);
    t.match(stdout, /^404 wallet_not_linked .+$/m);
    t.match(stdout, /^seen: \[NEW\] a1b2c3d4 \| Photograph a shop front \|/m);

    const { stdout: said } = await run(process.execPath, [join(dir, 'reference.js'), service.url], {
      timeout: 40_000,
    });
    t.match(
      said,
      /^\d+ users in \d+ channels\n<em-bot> \[NEW\] a1b2c3d4 .*\n404 wallet_not_linked\n404 not_found \S/,
    );
  },
);

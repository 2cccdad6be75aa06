// Compiles, then runs the test files in several processes. Most files share one with others: what takes a process a second or two to
// load and to compile is done once. Says which files took longest. Usage: scripts/test.mjs [--jobs=N] [--reporter=NAME] [--watch]
// [WORD...]. A word is a part of a path. Without any, all files run; otherwise those whose path has one of them.
import { spawn } from 'node:child_process';
import { readFileSync, watch } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { compile, compiledDir, filesBelow, rooms } from './compile.mjs';
import { ofSimulations, ofTests } from './node-options.mjs';
import { testDirectory } from './test-directory.mjs';

/** A file that takes longer has failed, in seconds. */
const timeoutS = 600;
/** This one plays many seeds. */
const simulation = 'simulation/scenarios';
/** The slowest files start first, so that nothing long is left at the end. */
const longest = [
  ...['faults/replicas', 'irc/network/bans', 'payments/crash', 'system/cluster', 'cli/demo', 'cli/replay'],
  ...[simulation, 'readme/session', 'projections/projector', 'channels/founders'],
  ...[
    'speech/takeover',
    'moderation/loops-network',
    'network/reads',
    'hostile/agent',
    'simulation/irc/model',
  ],
  ...[
    'channels/automation',
    'mcp/http',
    'deliberation/failures',
    'marketplace/proxy',
    'workers/endless-answers',
  ],
  ...['moderation/guard', 'events/receiver', 'channels/keep', 'irc/faults', 'identity/races', 'faults/'],
];
/** These have a process of their own: they are long, look at all of their process, or start others that are what they test. */
const alone = [
  ...longest,
  'simulation/',
  'contract/',
  'hostile/',
  'system/',
  'cli/',
  'recorded/',
  'readme/',
  'servers/',
  'test/config',
  'test/waits',
];
/** Files in one process at most. */
const mostTogether = 4;
/** The program that runs several files. */
const groupProgram = join(compiledDir, 'test', 'support', 'group.js');

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    // a test mostly waits for servers
    jobs: { type: 'string', default: String(3 * availableParallelism()) },
    // as tap itself: for people what is under way and what failed, for programs the protocol
    reporter: { type: 'string', default: process.stdout.isTTY ? 'base' : 'tap' },
    watch: { type: 'boolean', default: false },
  },
});

if (!(Number(options.jobs) >= 1)) {
  console.error(`--jobs=${options.jobs} is no number of processes`);
  process.exit(1);
}
if (options.watch) watchAndRun();
else await run();

async function run() {
  const files = filesBelow('test', /\.test\.ts$/)
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort((a, b) => placeOf(a) - placeOf(b));
  if (files.length === 0) {
    console.error(`no test file has ${words.join(' or ')} in its path`);
    process.exit(1);
  }
  await compile();
  const directory = testDirectory();
  const readStore = await prepareReadStore(directory);
  const { default: t } = await import('tap');
  const took = timesOf(t);
  const failed = failuresOf(t);
  if (options.reporter !== 'tap') {
    t.register();
    t.pipe(reporter());
  }
  t.setTimeout(0);
  const groups = grouped(files);
  const times = join(directory, 'times');
  t.jobs = Math.min(Number(options.jobs), groups.length);
  t.plan(groups.length);
  t.teardown(() => {
    t.comment(slowest(took, timesIn(times)));
    if (failed.length > 0) t.comment(['failed:', ...failed].join('\n'));
  });
  for (const group of groups) {
    const [file] = group;
    const program = group.length > 1 ? groupProgram : join(compiledDir, file.replace(/ts$/, 'js'));
    const limitS = timeoutS * group.length;
    const nodeOptions = file.includes(simulation) ? ofSimulations : ofTests;
    // tap makes each process load its modules through a thread of hooks, for a coverage that nobody wants
    // here. That costs each of them time, and a late module would come in real time into simulated worlds.
    t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...nodeOptions, program], {
      name: nameOf(group),
      buffered: t.jobs > 1,
      timeout: limitS * 1_000,
      env: {
        ...process.env,
        TAP_TIMEOUT: String(limitS),
        TMPDIR: directory,
        TEST_READ_STORE: readStore,
        TEST_TIMES: times,
        TEST_FILES: group.join(' '),
      },
    });
  }
}

/** The files of each process. Where there are few, more processes are made than files put together. */
function grouped(files) {
  const most = Math.max(1, Math.min(mostTogether, Math.floor(files.length / Number(options.jobs))));
  const isAlone = (file) => alone.some((part) => file.includes(part));
  const ofRooms = new Map();
  for (const file of files.filter((file) => !isAlone(file)))
    ofRooms.set(dirname(file), [...(ofRooms.get(dirname(file)) ?? []), file]);
  const together = [...ofRooms.values()].flatMap((room) => inParts(room, most));
  const apart = files.filter(isAlone).map((file) => [file]);
  const isLong = ([file]) => placeOf(file) < longest.length;
  return [...apart.filter(isLong), ...together, ...apart.filter((one) => !isLong(one))];
}

/** As few parts as there can be of so many at most, as even as they can be. */
function inParts(all, most) {
  const parts = Math.ceil(all.length / most);
  const startOf = (part) => Math.round((part * all.length) / parts);
  return Array.from({ length: parts }, (_, part) => all.slice(startOf(part), startOf(part + 1)));
}

function nameOf([file, ...others]) {
  return others.length === 0 ? file : `${file} and ${others.length} more of ${dirname(file)}`;
}

/**
 * Makes a read store with empty read models, which services in tests copy: it is what one has that was started once. To make one
 * takes a service half of its start. It comes before all tests, because it also makes the template of other stores. Many processes
 * that start at once would each make one, which keeps two cores busy for half a minute.
 */
async function prepareReadStore(directory) {
  const from = async (...path) => await import(pathToFileURL(join(compiledDir, 'projections', ...path)).href);
  const [{ projections }, { ensureBuild }, { openPglite }, { default: pino }] = await Promise.all([
    from('index.js'),
    from('core', 'builds.js'),
    from('core', 'pglite.js'),
    import('pino'),
  ]);
  const path = join(directory, 'read-store');
  const sql = await openPglite(path, pino({ level: 'warn' }));
  for (const projection of projections) await ensureBuild(sql, projection, 1);
  await sql.close();
  return path;
}

function placeOf(file) {
  const place = longest.findIndex((part) => file.includes(`/${part}`));
  return place < 0 ? longest.length : place;
}

/**
 * How long the files took that have ended, in milliseconds by name. Those under way end with this process.
 */
function timesOf(t) {
  const took = new Map();
  const running = new Set();
  let computed = computedMs();
  t.on('spawn', (file) => {
    file.once('process', (child) => {
      const began = performance.now();
      running.add(child);
      child.once('exit', () => {
        running.delete(child);
        const before = computed;
        computed = computedMs();
        took.set(file.name, { ms: performance.now() - began, computed: computed - before });
      });
    });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      for (const child of running) child.kill(signal);
      process.kill(process.pid, signal);
    });
  }
  return took;
}

/** What has failed so far, each with the tests that it is in; a test only where nothing in it has. */
function failuresOf(t) {
  const failed = [];
  const listen = (parser) => {
    parser.on('child', listen);
    parser.on('assert', ({ ok, skip, todo, fullname }) => {
      const isOfAnother = failed.some((other) => other.startsWith(`${fullname} > `));
      if (!ok && !skip && !todo && !isOfAnother) failed.push(fullname);
    });
  };
  t.on('spawn', (file) => listen(file.parser));
  return failed;
}

/**
 * CPU time so far of the processes that this one has waited for, including those that they have waited for.
 * In milliseconds; 0 if the system does not tell.
 */
function computedMs() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}

/** How long the files took that ran together, as their processes noted it. */
function timesIn(path) {
  try {
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line)).map(({ file, ...times }) => [file, times]);
  } catch {
    return [];
  }
}

function slowest(took, together) {
  const seconds = (ms) => `${(ms / 1_000).toFixed(1).padStart(6)} s`;
  const lines = [...[...took].filter(([name]) => name.endsWith('.ts')), ...together]
    .sort(([, a], [, b]) => b.ms - a.ms)
    .slice(0, 10)
    .map(([name, { ms, computed }]) => `${seconds(ms)}  ${seconds(computed)}  ${name}`);
  const all = [...took.values()].reduce((sum, { computed }) => sum + computed, 0);
  return [
    'the slowest files, and how long their processes computed:',
    ...lines,
    `all files computed for ${seconds(all).trim()}`,
  ].join('\n');
}

/** tap's own program, which reads the protocol and shows it in one of its formats. */
function reporter() {
  const tap = join(dirname(createRequire(import.meta.url).resolve('tap/package.json')), 'dist/esm/run.mjs');
  const shown = spawn(process.execPath, [tap, '-', `--reporter=${options.reporter}`], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  shown.once('exit', (code) => {
    process.exitCode ||= code ?? 1;
  });
  return shown.stdin;
}

/** Runs now, and again whenever a source has changed. A run that is under way then is ended. */
function watchAndRun() {
  const args = process.argv.slice(1).filter((arg) => arg !== '--watch');
  let running;
  let isStale = false;
  let timer;
  const again = () => {
    isStale = running !== undefined;
    if (isStale) return running.kill();
    running = spawn(process.execPath, args, { stdio: 'inherit' });
    running.once('exit', () => {
      running = undefined;
      if (isStale) again();
    });
  };
  for (const room of rooms) {
    watch(room, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(again, 200);
    });
  }
  again();
}

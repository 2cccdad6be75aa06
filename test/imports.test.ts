import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

/** The rooms from the inside out: each may import itself and the ones before it. */
const rooms = ['streams', 'projections', 'workers', 'src'];
/**
 * Packages that a room must not use: the inner rooms know nothing of HTTP, and only the outer ones of IRC.
 */
const foreign: Record<string, RegExp> = {
  streams: /^(fastify|irc-framework|pg|@electric-sql|prom-client)/,
  projections: /^(fastify|irc-framework|prom-client)/,
  workers: /^(fastify|pg|@electric-sql|prom-client)/,
};

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s+'([^']+)'|import\('([^']+)'\)/g)].map(
    (match) => (match[1] ?? match[2])!,
  );
}

const graph = new Map<string, string[]>();
for (const room of rooms) {
  for (const file of sources(room)) {
    const local = importsOf(file).filter((path) => path.startsWith('.'));
    graph.set(
      file,
      local.map((path) => relative('.', join(dirname(file), path)).replace(/\.js$/, '.ts')),
    );
  }
}

t.test('HOUSE-01 imports only point from the outer rooms to the inner ones', async (t) => {
  for (const [file, imports] of graph) {
    const room = rooms.indexOf(file.split('/')[0]!);
    for (const target of imports) {
      const may = `${rooms[room]} may import ${rooms.slice(0, room + 1).join(', ')} and packages`;
      t.ok(rooms.indexOf(target.split('/')[0]!) <= room, `${file} -> ${target}: ${may}`);
    }
    for (const name of importsOf(file)) t.notOk(foreign[rooms[room]!]?.test(name), `${file} -> ${name}`);
  }
});

/** Slices that ask another's service: the channel service lets payers into a channel. */
const asks: Record<string, string> = { 'workers/payments': 'channels' };
/**
 * The folders that hold slices, each with what its slices share besides `core`. `files` are those that are no slice of one
 * file: lists of all slices, and words that slices share.
 */
const sliced: Record<string, { common: string[]; files: RegExp }> = {
  streams: { common: [], files: /^(index|irc-grammar|lookalikes|nick-looks|refusals)\.ts$/ },
  projections: { common: [], files: /^(index|catch-up|catch-up-program)\.ts$/ },
  workers: { common: ['irc'], files: /^$/ },
  'src/operations': { common: [], files: /^index\.ts$/ },
};

/** The slice or the shared folder of a room that a file is in; `undefined` if it is in none of this room. */
function sliceOf(file: string, room: string): string | undefined {
  if (!file.startsWith(`${room}/`)) return undefined;
  const [slice, ...rest] = file.slice(room.length + 1).split('/');
  return rest.length === 0 && sliced[room]!.files.test(slice!) ? undefined : slice!.replace(/\.ts$/, '');
}

t.test('HOUSE-02 an engine knows no slice, and a slice no other slice of its room', async (t) => {
  for (const [room, { common }] of Object.entries(sliced)) {
    for (const [file, imports] of graph) {
      const slice = sliceOf(file, room);
      if (slice === undefined) continue;
      for (const target of imports) {
        const other = sliceOf(target, room);
        const known =
          [slice, 'core', asks[`${room}/${slice}`]].includes(other) ||
          (slice !== 'core' && common.includes(other!));
        if (other !== undefined) t.ok(known, `${file} -> ${target}`);
      }
    }
  }
});

/** The one slice of an inner room that engines know: what operators command them to. */
const commands = 'streams/operations/';

t.test('HOUSE-02 an engine knows no slice of an inner room, and no list of slices', async (t) => {
  for (const [file, imports] of graph) {
    if (!Object.keys(sliced).some((room) => file.startsWith(`${room}/core/`))) continue;
    for (const target of imports.filter((target) => !target.startsWith(commands)))
      for (const room of Object.keys(sliced)) {
        t.ok(['core', undefined].includes(sliceOf(target, room)), `${file} -> ${target}`);
        t.not(target, `${room}/index.ts`, `${file} -> ${target}`);
      }
  }
});

t.test('HOUSE-03 there are no circles', async (t) => {
  const done = new Set<string>();
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) t.fail(`circle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
    else if (!done.has(file)) {
      for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    }
  };
  for (const file of graph.keys()) visit(file, []);
  t.equal(done.size, graph.size);
});

/** The folder of a room that a file is in, or the file itself if it is in none. */
function folderOf(file: string): string {
  const [room, folder, ...rest] = file.split('/');
  return rest.length > 0 ? `${room}/${folder}` : file;
}

t.test('HOUSE-05 there are no circles between folders', async (t) => {
  const folders = new Map<string, Map<string, string>>();
  for (const [file, imports] of graph) {
    const from = folderOf(file);
    for (const target of imports) {
      const to = folderOf(target);
      if (to === from) continue;
      const edges = folders.get(from) ?? new Map<string, string>();
      folders.set(from, edges.set(to, `${file} -> ${target}`));
    }
  }
  const done = new Set<string>();
  const visit = (folder: string, path: string[]) => {
    if (path.includes(folder)) {
      const circle = [...path.slice(path.indexOf(folder)), folder];
      const steps = circle.slice(1).map((to, index) => folders.get(circle[index]!)?.get(to));
      t.fail(`circle: ${circle.join(' -> ')}\n${steps.join('\n')}`);
    } else if (!done.has(folder)) {
      for (const to of folders.get(folder)?.keys() ?? []) visit(to, [...path, folder]);
      done.add(folder);
    }
  };
  for (const folder of folders.keys()) visit(folder, []);
  t.ok(done.has('src/operations'));
});

/** What operations are reached by; the server of `http` carries the others. */
const faces = ['mcp', 'a2a', 'openapi', 'remote', 'socket', 'oauth'].map((name) => `src/${name}`);
/** What the document of the API is made of besides operations. */
const isDescription = (file: string) => /\/descriptions?\.ts$/.test(file);

t.test('HOUSE-06 faces know operations, and no other face', async (t) => {
  for (const [file, imports] of graph) {
    const from = folderOf(file);
    for (const target of imports) {
      const to = folderOf(target);
      if (faces.includes(from) && to !== from && !(from === 'src/openapi' && isDescription(target)))
        t.notOk(faces.includes(to), `${file} -> ${target}`);
      if (from === 'src/http') t.notOk(faces.includes(to), `${file} -> ${target}`);
      if (from === 'src/operations')
        t.notOk([...faces, 'src/http', 'src/pages', 'src/app'].includes(to), `${file} -> ${target}`);
    }
  }
});

t.test('HOUSE-07 benchmarks use the rooms, and nothing that tests have', async (t) => {
  for (const file of sources('bench'))
    for (const name of importsOf(file)) t.notMatch(name, /\/test\//, `${file} -> ${name}`);
});

t.test('HOUSE-04 only the configuration reads the environment', async (t) => {
  for (const file of graph.keys()) {
    if (file === 'src/config/config.ts') continue;
    t.notMatch(readFileSync(file, 'utf8'), /process\.env\b/, file);
  }
});

import { readFileSync } from 'node:fs';
import t from 'tap';
import { decodeFact } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';

/** One recorded example of every fact that was ever released. Examples are added and never changed. */
const examples = JSON.parse(readFileSync('test/facts/examples.json', 'utf8')) as {
  stream: string;
  subject: string;
  body: { type: string; v: number; by: string; data: unknown };
}[];

t.test('LOG-10 every recorded example of a fact still decodes', async (t) => {
  for (const { stream: name, subject, body } of examples) {
    const stream = streams.find((candidate) => candidate.name === name);
    if (!stream) return t.fail(`the stream ${name} is gone`);
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const fact = decodeFact(stream, bytes, { subject, seq: 1, at: new Date(0) });
    t.match(fact, { type: body.type, by: body.by, subject });
    t.match(fact.data, body.data as object, `${body.type} v${body.v} keeps its data`);
  }
});

t.test('LOG-18 a fact of a newer version is not read as the one that is known', async (t) => {
  for (const { stream: name, subject, body } of examples.slice(0, 3)) {
    const stream = streams.find((candidate) => candidate.name === name)!;
    const bytes = new TextEncoder().encode(JSON.stringify({ ...body, v: 99 }));
    const read = () => decodeFact(stream, bytes, { subject, seq: 1, at: new Date(0) });
    t.throws(read, { message: `${body.type} is of version 99, newer than` });
  }
});

t.test('LOG-10 every fact of the code has an example, and the catalogue names it', async (t) => {
  const catalogue = readFileSync('streams/README.md', 'utf8');
  for (const stream of streams) {
    t.match(catalogue, stream.name);
    t.match(stream.description, /^[A-Z].{15,}\.$/, `${stream.name} says what it is about`);
    for (const type of Object.keys(stream.facts)) {
      t.ok(
        examples.some((example) => example.stream === stream.name && example.body.type === type),
        `an example of ${stream.name} ${type}`,
      );
      t.match(catalogue, `\`${type}\``, `${type} is in the catalogue`);
    }
  }
  const types = streams.flatMap((stream) => Object.keys(stream.facts));
  for (const [, type] of catalogue.matchAll(/^\| `([a-z_.]+)` \|/gm)) {
    t.ok(types.includes(type!), `the catalogue's ${type} exists`);
  }
});

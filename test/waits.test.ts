import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';

/** A wait that ends sooner may end on a busy machine before what it waits for, in milliseconds. */
const leastMs = 30_000;
/** The helpers that wait for something to happen: first comes what for, and last how long. */
const waits = new Set(['eventually', 'until', 'waitFor', 'waitUntil']);
/** Assertions that may compare a time. */
const assertions = new Set(['ok', 'notOk']);

/** What in a test counts on real time: a wait that gives up soon, or a time measured against a short limit. */
function impatient(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const note = (node: ts.Node, what: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${file}:${line + 1} ${what}: ${node.getText().replace(/\s+/g, ' ').slice(0, 100)}`);
  };
  const visit = (node: ts.Node, isAsserted: boolean): void => {
    if (ts.isCallExpression(node)) {
      const name = nameOf(node.expression);
      if (waits.has(name) && node.arguments.slice(1).some(isShort)) note(node, 'gives up early');
      isAsserted = assertions.has(name);
    }
    if (isAsserted && ts.isBinaryExpression(node)) {
      const isLess = /^<=?$/.test(node.operatorToken.getText());
      if (isLess && isMeasured(node.left) && isShort(node.right)) note(node, 'must be quick');
    }
    ts.forEachChild(node, (child) => visit(child, isAsserted));
  };
  visit(source, false);
  return found;
}

const nameOf = (callee: ts.Expression): string =>
  ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText();

/** Whether an expression is a number of milliseconds that may be too few. */
const isShort = (node: ts.Node): boolean =>
  ts.isNumericLiteral(node) && Number(node.getText().replaceAll('_', '')) < leastMs;

/** Whether an expression is a time that a clock measured, by its text. */
const isMeasured = (node: ts.Node): boolean =>
  /\b(performance|Date)\.now\(\)|^(ms|took|elapsed)$|Ms$/.test(node.getText());

/** Simulated time does not depend on the machine. */
const isSimulated = (text: string): boolean => /from '[^']*simulation\/world\.js'/.test(text);

t.test('HOUSE-08 no test depends on how fast the machine is', async (t) => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('simulation/'))
    .map((name) => join('test', name));
  const texts = files.map((file) => [file, readFileSync(file, 'utf8')] as const);
  const real = texts.filter(([, text]) => !isSimulated(text));
  t.ok(real.length > 250);
  t.same(
    real.flatMap(([file, text]) => impatient(file, text)),
    [],
  );
});

t.test('HOUSE-08 what counts on time is found', async (t) => {
  const lines = [
    "await eventually('it', ask, 5_000);",
    "await bot.waitUntil(() => done, 'it', 1_000);",
    't.ok(performance.now() - began < 1_000);',
    't.ok(ms <= 200, "quick");',
    "await eventually('it', ask, 60_000);",
    't.ok(ms > 200);',
    't.ok(answers.length < 10);',
  ];
  t.equal(impatient('a.test.ts', lines.join('\n')).length, 4);
});

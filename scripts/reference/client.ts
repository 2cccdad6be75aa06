import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { code, head, table } from './page.js';

const folder = 'src/client';

/** Everything that `relay-network/client` exports, from its docstrings. */
export function clientPage(): string {
  const declared = exported();
  const of = (...kinds: ts.SyntaxKind[]) => declared.filter(({ kind }) => kinds.includes(kind));
  const intro = `How to install and use it is in [the client for TypeScript](../guides/client.md). Paths, parameters and answers are those of
the [routes](routes.md), and the codes of a \`RelayError\` are in [errors](errors.md).

\`\`\`ts
${exampleOf(declared)}
\`\`\`

The types \`paths\`, \`operations\` and \`components\` are the description of the API, as
[openapi-typescript](https://openapi-ts.dev/) makes it. For example, \`operations['getIrcStats']\` has the answers of that operation.
`;
  return [
    head('Client', `the docstrings of ${folder}`, intro),
    '## Functions\n',
    ...of(ts.SyntaxKind.FunctionDeclaration).map(entry),
    '## Errors\n',
    ...of(ts.SyntaxKind.ClassDeclaration).map(entry),
    '## Types\n',
    ...of(ts.SyntaxKind.InterfaceDeclaration, ts.SyntaxKind.TypeAliasDeclaration).map(entry),
  ].join('\n');
}

type Declared = ts.DeclarationStatement;

/** The declarations of the names in its index, in the order of the names. */
function exported(): Declared[] {
  return parsed('index.ts').statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || !ts.isNamedExports(statement.exportClause!)) return [];
    const file = (statement.moduleSpecifier as ts.StringLiteral).text.replace(/\.js$/, '.ts');
    if (file === './api.ts') return []; // made of the API's description, which has pages of its own
    const names = statement.exportClause.elements.map(({ name }) => name.text);
    const { statements } = parsed(file);
    const found = statements.filter(isDeclared).filter(({ name }) => names.includes(name!.getText()));
    if (found.length !== names.length) throw new Error(`${file} does not have all of ${names.join(', ')}`);
    return found;
  });
}

function parsed(file: string): ts.SourceFile {
  const path = `${folder}/${file}`;
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true);
}

function isDeclared(node: ts.Statement): node is Declared {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  );
}

function entry(node: Declared): string {
  const name = node.name!.getText();
  const parts = [`### ${name}\n`];
  if (ts.isFunctionDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
    const end = ts.isFunctionDeclaration(node) ? node.body!.getStart() : node.getEnd();
    const declared = node.getSourceFile().text.slice(node.getStart(), end);
    parts.push(`\`\`\`text\n${declared.replace(/^export (async )?/, '').trim()}\n\`\`\`\n`);
  }
  parts.push(`${saidOf(node)}\n`);
  if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) {
    const members = [...node.members].filter(
      (one) => ts.isPropertySignature(one) || ts.isMethodSignature(one) || isField(one),
    );
    parts.push(table(['member', 'type', 'meaning'], members.map(row)));
  }
  return parts.join('\n');
}

/** A field that the class itself adds: overridden fields of `Error` are known. */
function isField(node: ts.Node): node is ts.PropertyDeclaration {
  return (
    ts.isPropertyDeclaration(node) &&
    !node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.OverrideKeyword)
  );
}

function row(member: ts.Node): string[] {
  const { name, type, questionToken } = member as ts.PropertySignature;
  const signature = ts.isMethodSignature(member)
    ? `(${member.parameters.map((one) => one.getText()).join(', ')}): ${type!.getText()}`
    : type!.getText();
  return [
    code(`${name.getText()}${questionToken ? '?' : ''}`),
    code(signature.replace(/ \| undefined$/, '').replaceAll('`', "'")),
    saidOf(member),
  ];
}

/** The docstring of a declaration. Each has one. */
function saidOf(node: ts.Node): string {
  const [docs] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(docs?.comment)?.trim();
  if (!text) throw new Error(`no docstring: ${node.getText().slice(0, 80)}`);
  return text;
}

/** The program in a docstring that is an example. */
function exampleOf(declared: Declared[]): string {
  const tags = declared
    .flatMap((node) => ts.getJSDocTags(node))
    .filter(({ tagName }) => tagName.text === 'example');
  if (tags.length !== 1) throw new Error('one docstring has the example');
  return ts.getTextOfJSDocComment(tags[0]!.comment)!.trim();
}

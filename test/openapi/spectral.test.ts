import { Ruleset, type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import t from 'tap';
import { openApiDocument } from '../../src/openapi/document.js';
import { descriptions } from '../../src/openapi/index.js';

const linter = new Spectral();
linter.setRuleset(
  new Ruleset({
    extends: [[oas as RulesetDefinition, 'all']],
    // the operator may have no mail address, and the tags are in the order of the guide
    rules: { 'contact-properties': 'off', 'openapi-tags-alphabetical': 'off' },
  }),
);
const findings = async (document: object) =>
  (await linter.run(document as Record<string, unknown>)).map(
    ({ code, path, message }) => `${code} ${path.join('.')}: ${message}`,
  );

t.test('OAS-14 spectral finds nothing in the document', async (t) => {
  const document = openApiDocument(descriptions, 'https://relay.example/') as { info: object };
  t.same(await findings(document), []);
  const bad = { openapi: '3.0.3', info: { title: 'x', version: '1' }, servers: [], paths: {}, tags: [] };
  t.ok((await findings(bad)).length > 0, 'but something in another one');
});

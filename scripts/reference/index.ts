/** Writes the pages of docs/reference that are made from the code: `npm run docs:reference`. */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { errorsDoc, errorsFile } from '../errors-doc.js';
import { clientPage } from './client.js';
import { commandLinePage } from './command-line.js';
import { configurationPage } from './configuration.js';
import { factsPage } from './facts.js';
import { metricsPage } from './metrics.js';
import { producersPage } from './producers.js';
import { readModelsPage } from './read-models.js';
import { routesPage } from './routes.js';
import { toolsPage } from './tools.js';

/** Each page, by its file. */
export const pages: Record<string, () => string | Promise<string>> = {
  [errorsFile]: errorsDoc,
  'docs/reference/client.md': clientPage,
  'docs/reference/command-line.md': commandLinePage,
  'docs/reference/configuration.md': configurationPage,
  'docs/reference/facts.md': factsPage,
  'docs/reference/metrics.md': metricsPage,
  'docs/reference/producers.md': producersPage,
  'docs/reference/read-models.md': readModelsPage,
  'docs/reference/routes.md': routesPage,
  'docs/reference/tools.md': toolsPage,
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [file, page] of Object.entries(pages)) writeFileSync(file, await page());
}

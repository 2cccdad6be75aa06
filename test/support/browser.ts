import { existsSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { temporaryDirectory } from './sql.js';

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** Why a test of a page is left out; `false` where there is a browser to look at it with. */
export const withoutBrowser = program === undefined && 'Chromium, to look at the page with, is not installed';

/** Opens an empty page in a real browser, until the end of the test; `problems` has what the browser complains of. */
export async function openPage(t: Test): Promise<{ page: Page; problems: string[] }> {
  const context = await chromium.launchPersistentContext(await temporaryDirectory(t), {
    executablePath: program!,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
  t.teardown(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  return { page, problems };
}

/**
 * Makes the picture of the live page that the README shows, from the service that runs on this machine:
 * `npx tsx scripts/screenshot.ts`. Run `npm run demo` first, so that there is something to see.
 */
import { chromium } from 'playwright-core';

/** Where it is kept. */
const pictureFile = 'docs/images/live-page.png';
const [url = 'http://127.0.0.1:8100', program = '/usr/bin/chromium'] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: program,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 520 }, colorScheme: 'light' });
  await page.goto(`${url}/irc/live#bounties`);
  await page.locator('#state.on').waitFor();
  await page.locator('#lines li').first().waitFor();
  await page.screenshot({ path: pictureFile });
} finally {
  await browser.close();
}

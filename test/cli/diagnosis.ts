import type { Check, Finding } from '../../src/cli/doctor/finding.js';
import { look } from '../../src/cli/doctor/index.js';
import { type Installation, openInstallation } from '../../src/cli/doctor/installation.js';
import { ServiceClient } from '../../src/cli/service/client.js';
import { readConfig } from '../../src/config/config.js';
import { freePort } from '../support/ports.js';

/** What checks find with an environment, by id; `over` replaces parts of the installation. */
export async function diagnose(
  checks: readonly Check[],
  env: NodeJS.ProcessEnv,
  over: Partial<Installation> & { url?: string; key?: string } = {},
): Promise<Record<string, Finding>> {
  const { url = `http://127.0.0.1:${await freePort()}`, key, ...parts } = over;
  const client = new ServiceClient({ url, key, stop: new AbortController().signal });
  const installation = openInstallation(readConfig(env), client, parts);
  try {
    const findings = await look(checks, installation);
    return Object.fromEntries(findings.map((finding) => [finding.id, finding]));
  } finally {
    await installation.close();
  }
}

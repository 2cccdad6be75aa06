import pTimeout from 'p-timeout';
import { type Config, unknownSettings } from '../../config/config.js';
import { defineCommand, type Invocation, type Values } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { print, printable, type Style, styled, type Terminal } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';
import { deliveryChecks } from './delivery.js';
import { type Check, type Finding, fail, ok, type Result, type Status, skipped } from './finding.js';
import { type Installation, openInstallation } from './installation.js';
import { ircChecks } from './irc.js';
import { logChecks } from './log.js';
import { machineChecks } from './machine.js';
import { marketplaceChecks } from './marketplace.js';
import { readStoreChecks } from './read-store.js';
import { serviceChecks } from './service.js';
import { settingChecks } from './settings.js';
import { streamChecks } from './streams.js';

/** Everything that `relay doctor` looks at, in the order in which it tells of it. */
export const checks: Check[] = [
  ...settingChecks,
  ...machineChecks,
  ...serviceChecks,
  ...logChecks,
  ...streamChecks,
  ...readStoreChecks,
  ...deliveryChecks,
  ...ircChecks,
  ...marketplaceChecks,
];

/** No check may take longer, in milliseconds. */
const boundMs = 20_000;

/** `relay doctor` */
export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Check every part and say what is wrong and how to mend it',
  details:
    'Looks at the settings, this machine, the log, the read store, IRC, the marketplace and the running service. Changes\n' +
    'nothing. Where the service does not run, what only it could tell is skipped. Exit code 1 when something has\n' +
    'failed, or when a service that was started before does not run.',
  options: serviceOptions,
  async run(invocation) {
    const findings = await examine(invocation);
    const failed = findings.filter(({ status }) => status === 'fail').length;
    print(invocation, { well: failed === 0, findings }, () => write(invocation.terminal, findings));
    if (failed > 0) throw new Failed(`${failed} of ${findings.length} checks failed`, 'unwell');
  },
});

async function examine(invocation: Invocation<Values<typeof serviceOptions>>): Promise<Finding[]> {
  let config: Config;
  try {
    config = invocation.config();
  } catch (error) {
    if ((error as Error).name !== 'ConfigError') throw error;
    const [, ...problems] = (error as Error).message.split('\n');
    const mend = 'correct it in the environment or in .env; .env.example describes each setting';
    return (problems.length > 0 ? problems : [(error as Error).message]).map((problem) => {
      return { id: 'settings', ...fail(problem.trim(), mend) };
    });
  }
  const installation = openInstallation(config, serviceOf(invocation, invocation.options), {
    unknownNames: unknownSettings,
  });
  try {
    return [{ id: 'settings', ...ok('the settings can be read') }, ...(await look(checks, installation))];
  } finally {
    await installation.close();
  }
}

/** Carries out checks, all at once; what one throws is its failure. */
export async function look(wanted: readonly Check[], installation: Installation): Promise<Finding[]> {
  const looked = wanted.map(async (check) => {
    const answers = [await bounded(check, installation)].flat();
    return answers.map(({ part, ...answer }) => ({ id: part ? `${check.id}.${part}` : check.id, ...answer }));
  });
  return (await Promise.all(looked)).flat();
}

async function bounded(check: Check, installation: Installation): Promise<Result | Result[]> {
  const late = () =>
    fail(`no result within ${boundMs / 1_000} s`, 'see what else is said here, and try again');
  try {
    return await pTimeout(Promise.resolve(check.look(installation)), {
      milliseconds: boundMs,
      fallback: late,
    });
  } catch (error) {
    const { message, code = '' } = error as { message: string; code?: string };
    if (/^api_key/.test(String(code))) return skipped(`${message}: give the key with --key or RELAY_API_KEY`);
    return fail(message, 'see what else is said here');
  }
}

const styles: Record<Status, Style> = { ok: 'green', warn: 'yellow', fail: 'red', skipped: 'dim' };

function write(terminal: Terminal, findings: Finding[]): void {
  const width = Math.max(...findings.map(({ id }) => id.length));
  for (const { id, status, what, mend } of findings) {
    const head = `${styled(terminal, styles[status], status.padEnd(7))}  ${id.padEnd(width)}  `;
    terminal.out(head + printable(what));
    if (mend) terminal.out(`${' '.repeat(9 + width + 2)}-> ${printable(mend)}`);
  }
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length;
  terminal.out(
    `\n${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed, ${count('skipped')} skipped`,
  );
}

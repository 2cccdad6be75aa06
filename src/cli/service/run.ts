import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { pause } from '../../../streams/core/clock.js';
import { withoutCredentials } from '../../app/about.js';
import { type App, createApp } from '../../app/app.js';
import { type Config, ConfigError, unknownSettings } from '../../config/config.js';
import type { Invocation } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { ownCommand } from '../core/own-command.js';
import { styled, type Terminal } from '../core/terminal.js';
import { configuredUrl } from './client.js';
import { openLogger } from './logger.js';

/** Runs the service until it is asked to stop. Throws `Failed` when it cannot start. */
export async function runService({ config: readConfig, terminal, stop }: Invocation): Promise<void> {
  const config = readConfig();
  const logger = openLogger(config.LOG_LEVEL, terminal);
  process.on('uncaughtException', (error, origin) => {
    // the state is unknown, so nothing is closed in order: what is acknowledged is on disk
    logger.fatal({ err: error, origin }, 'the service ends because of a bug');
    process.exit(1);
  });

  for (const warning of unknownSettings()) logger.warn(warning);
  const told = () => logger.info('stopping as soon as what was begun is up; a second signal ends it at once');
  stop.addEventListener('abort', told);
  const app = await createApp(config, logger, stop).catch((error: unknown) => {
    if (stop.aborted && error === stop.reason) return undefined;
    throw explainStart(error, config, logger);
  });
  stop.removeEventListener('abort', told);
  if (app === undefined) return logger.info('stopped');
  if (!stop.aborted) announce(app, config, terminal, logger);
  const readiness = tellReadiness(app, logger, stop);
  if (!stop.aborted) await once(stop, 'abort');
  logger.info('stopping');
  await readiness;
  await app.stop();
  logger.info('stopped');
}

/** A service that is ready sooner is started as usual, and nothing is said of it. */
const soonMs = 1_000;

/** Tells why a service that runs is not ready, as often as the reason changes, and then that it is. */
async function tellReadiness({ notReady }: App, logger: Logger, stop: AbortSignal): Promise<void> {
  let told: string | undefined;
  for (;;) {
    await pause(soonMs, stop);
    const reason = stop.aborted ? undefined : notReady();
    if (reason === undefined) break;
    if (reason !== told) logger.info({ reason }, 'not ready yet');
    told = reason;
  }
  if (told !== undefined && !stop.aborted) logger.info('ready');
}

/** What an operator can mend becomes one sentence; a mistake of ours keeps its stack. */
function explainStart(error: unknown, config: Config, logger: Logger): unknown {
  if (error instanceof TypeError || error instanceof ReferenceError || !(error instanceof Error))
    return error;
  if (error instanceof ConfigError) return error;
  logger.debug({ err: error }, 'start failed');
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return new Failed(listenProblem(code, config), 'cannot_listen');
  if (code === 'CONNECTION_REFUSED') {
    return new Failed(
      `no log server answers at ${withoutCredentials(config.NATS_URL)} (NATS_URL)`,
      'log_unavailable',
    );
  }
  if (code === 'AUTHORIZATION_VIOLATION') {
    return new Failed(
      `the log server at ${withoutCredentials(config.NATS_URL)} wants other credentials (NATS_URL)`,
      'log_unauthorized',
    );
  }
  if (/^inspircd cannot start: port /.test(error.message)) {
    return new Failed(
      `${error.message}: set IRC_EMBEDDED_PORT to a free one, or IRC_URL to an IRC network`,
      'port_in_use',
    );
  }
  // several addresses of one name: each has an error of its own, and the whole has no text
  const inner = (error as AggregateError).errors?.[0] as Error | undefined;
  return new Failed(error.message || inner?.message || String(code ?? error.name), 'start_failed');
}

function listenProblem(code: string | undefined, { HOST, PORT }: Config): string {
  if (code === 'EADDRINUSE')
    return `port ${PORT} of ${HOST} is in use by another program: stop that one, or set PORT to another one`;
  if (code === 'EACCES')
    return `port ${PORT} of ${HOST} may not be used by this user: set PORT to 1024 or more`;
  return `${HOST} is no address of this machine: set HOST to one that is (${code})`;
}

function announce(app: App, config: Config, terminal: Terminal, logger: Logger): void {
  const data = resolve(config.DATA_DIR);
  const nats = withoutCredentials(app.places.nats);
  const { irc } = app.places;
  const emit = emitLine(app, config);
  if (!terminal.isTty) {
    logger.info(
      { api: app.address, nats, irc, sql: app.places.sql, data, roles: config.ROLES, try: emit },
      'the service runs',
    );
    return;
  }
  const { host } = new URL(irc || 'irc://none');
  const label = (text: string) => styled(terminal, 'bold', text.padEnd(7));
  terminal.out('');
  terminal.out(styled(terminal, 'green', 'Relay Network runs.'));
  terminal.out(`  ${label('API')}${app.address ?? 'not in this process (ROLES)'}`);
  terminal.out(`  ${label('IRC')}${irc || 'not in this process (ROLES)'}`);
  terminal.out(`  ${label('NATS')}${nats}`);
  terminal.out(`  ${label('SQL')}${app.places.sql}`);
  terminal.out(`  ${label('data')}${data}`);
  if (emit === undefined) return;
  terminal.out('');
  terminal.out(`  ${label('Watch')}connect an IRC client to ${host} and /join #bounties`);
  terminal.out(`  ${label('Send')}${styled(terminal, 'cyan', emit)}`);
  terminal.out(`  ${label('Stop')}Ctrl-C`);
  terminal.out('');
}

/** The line that sends a first event to this very service, whatever was set for this one run only. */
function emitLine(app: App, config: Config): string | undefined {
  if (!app.address || app.webhookSecrets.length === 0) return undefined;
  const usual = config.PORT !== 0 && app.address === configuredUrl({ HOST: '127.0.0.1', PORT: 8100 });
  const dataDir = config.DATA_DIR === './data' ? '' : `DATA_DIR=${quoted(config.DATA_DIR)} `;
  return `${dataDir}${ownCommand()} emit task.published${usual ? '' : ` --url ${app.address}`}`;
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

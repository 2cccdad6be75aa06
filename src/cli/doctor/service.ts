import { withoutCredentials } from '../../app/about.js';
import { hasLog } from '../../servers/secrets.js';
import { version } from '../../servers/version.js';
import { ownCommand } from '../core/own-command.js';
import { type Check, fail, ok, type Result, skipped, warn } from './finding.js';
import type { Installation } from './installation.js';

const notAsked = (problem: string) => skipped(`the service cannot be asked: ${problem}`);

const ready: Check = {
  id: 'service',
  async look({ service, client, own, dataDir }) {
    const state = await service();
    if (state.is === 'absent') {
      // before the first start there is nothing that could have stopped
      if (!own.nats || !hasLog(dataDir)) return notAsked(state.problem);
      return fail(
        `the service was started before and does not run: ${state.problem}`,
        `start it with "${ownCommand()} start"; where it listens elsewhere, say so with --url`,
      );
    }
    if (state.is === 'stranger')
      return fail(state.problem, 'stop the other program, or set PORT to another port for the service');
    if (state.is === 'blocked')
      return fail(state.problem, 'set PORT to another port for the service, such as 8100');
    if (!state.ready)
      return fail(
        `the service at ${client.url} is not ready: ${state.reason}`,
        'look again in a moment, if it started a moment ago; else see the other lines here, and its log',
      );
    return ok(`the service at ${client.url} is ready`);
  },
};

const health: Check = {
  id: 'health',
  async look({ service, client }) {
    const state = await service();
    if (state.is !== 'running') return notAsked(state.problem);
    const { status, services } = await client.api.get('/health');
    const bad = Object.entries(services).filter(
      ([, part]) => !['ok', 'not_configured'].includes(part.status),
    );
    if (status === 'ok' && bad.length === 0) return ok('every service is well');
    const told = bad.map(([name, { status, reason }]) =>
      typeof reason === 'string' ? `${name} is ${status}, because ${reason}` : `${name} is ${status}`,
    );
    const isPaid = (name: string) => name === 'turnstile';
    const mend = [
      ...(bad.some(([name]) => isPaid(name))
        ? ['set X402_FACILITATOR_URL to a facilitator that answers']
        : []),
      ...(bad.every(([name]) => isPaid(name))
        ? []
        : ['see what else is said here about IRC, the log and the read store']),
    ];
    return warn(`the service is ${status}: ${told.join(', ')}`, mend.join('; '));
  },
};

const sameProgram: Check = {
  id: 'version',
  async look(installation) {
    const state = await installation.service();
    if (state.is !== 'running') return notAsked(state.problem);
    if (state.about === undefined)
      return warn(
        `the service does not tell about itself: ${state.problem}`,
        'set RELAY_API_KEY to one of its keys',
      );
    const { about } = state;
    if (about.version !== version)
      return warn(
        `the service is version ${about.version}, this program is ${version}`,
        'restart the service, or use the command of its version',
      );
    return otherSettings(installation, about) ?? ok(`the service is version ${version}, with these settings`);
  },
};

/** What was looked at is not what the service uses, when it was started with other settings. */
function otherSettings(
  { config, dataDir, own }: Installation,
  about: { data: string; nats: string; irc: string },
) {
  const differing = [
    ...((own.nats || own.sql || own.irc) && about.data !== dataDir
      ? [`DATA_DIR is ${about.data} there`]
      : []),
    ...(!own.nats && about.nats !== withoutCredentials(config.NATS_URL)
      ? [`NATS_URL is ${about.nats} there`]
      : []),
    ...(!own.irc && about.irc !== withoutCredentials(config.IRC_URL)
      ? [`IRC_URL is ${about.irc} there`]
      : []),
  ];
  if (differing.length === 0) return undefined;
  return warn(
    `the service runs with other settings: ${differing.join(', ')}`,
    'give this command the same environment, or it looks at other servers',
  );
}

const deadLetters: Check = {
  id: 'dead-letters',
  async look({ service, client }): Promise<Result> {
    const state = await service();
    if (state.is !== 'running') return notAsked(state.problem);
    const { dead_letter, pending } = await client.api.get('/hooks/em/stats');
    if (dead_letter > 0)
      return warn(
        `${dead_letter} event${dead_letter > 1 ? 's were' : ' was'} given up`,
        '"relay dead-letters" names them and why, "relay dead-letters redrive" sends them again',
      );
    return ok(`none was given up, ${pending} wait`);
  },
};

/** The running service, asked over HTTP. */
export const serviceChecks: Check[] = [ready, health, sameProgram, deadLetters];

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { leaseHolder } from '../../../workers/core/lease.js';
import { withoutCredentials } from '../../app/about.js';
import type { IrcState } from '../../operations/core/health.js';
import { nickServiceNick } from '../../servers/anope-config.js';
import { lookForAnope } from '../../servers/own-network.js';
import { type Check, fail, of, ok, type Result, skipped, warn } from './finding.js';
import { type Installation, type KnownSecrets, reportedMs } from './installation.js';
import { IrcProbe } from './irc-probe.js';

/** What a line's delivery is made certain with. */
const wanted = ['message-tags', 'batch', 'echo-message', 'labeled-response', 'server-time'];
const certificateWarningMs = 14 * 24 * 3_600_000;

/** The IRC server, and what our bot will find there. */
const network: Check = {
  id: 'irc',
  async look(installation) {
    const { ircUrl } = installation;
    if (ircUrl === undefined) {
      if ((await installation.service()).is !== 'running')
        return skipped('the IRC server starts with the service');
      return fail(
        'our own IRC server does not run',
        'see the log of the service: it starts it again by itself',
      );
    }
    const place = withoutCredentials(ircUrl);
    const secrets = await installation.secrets();
    let probe: IrcProbe;
    try {
      const guest = `doctor-${randomBytes(3).toString('hex')}`;
      probe = await IrcProbe.visit(ircUrl, guest, {
        password: secrets.ircServerPassword,
        ca: installation.ca,
      });
    } catch (error) {
      return unreachable(place, error as NodeJS.ErrnoException);
    }
    try {
      return [
        ok(`an IRC server answers at ${place}`),
        ...certificate(probe, installation),
        capabilities(probe),
        history(probe),
        await nick(probe, installation),
        await operator(probe, secrets),
        ...(installation.own.irc ? [await nickService(probe, installation)] : []),
      ];
    } finally {
      probe.leave();
    }
  },
};

function unreachable(place: string, { code = '', message }: NodeJS.ErrnoException): Result {
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) {
    const mend =
      'have the server use a certificate for the name in IRC_URL, or name its authority in NODE_EXTRA_CA_CERTS';
    return of('certificate', fail(`the certificate of ${place} is not accepted: ${message}`, mend));
  }
  return fail(
    `no IRC server can be entered at ${place}: ${message || code}`,
    'start it, or set IRC_URL (and IRC_SERVER_PASSWORD) to where it is',
  );
}

function certificate({ certificateEnds }: IrcProbe, { now }: Installation): Result[] {
  if (certificateEnds === undefined) return [];
  const day = certificateEnds.toISOString().slice(0, 10);
  if (certificateEnds.getTime() - now() >= certificateWarningMs)
    return [of('certificate', ok(`the certificate is good until ${day}`))];
  const mend = 'have it renewed: after that day the bot stays outside';
  return [of('certificate', warn(`the certificate ends on ${day}`, mend))];
}

function capabilities({ capabilities: offered }: IrcProbe): Result {
  const missing = wanted.filter((name) => !offered.has(name));
  if (missing.length === 0) return of('capabilities', ok(`it has ${wanted.join(', ')}`));
  const what = `it lacks ${missing.join(', ')}: lines are confirmed by a PING, and one in flight may be shown twice`;
  return of('capabilities', warn(what, 'enable the IRCv3 modules of the server'));
}

/** InspIRCd's channel history is a mode of the channel, which 005 names among those with a parameter. */
function history({ supports }: IrcProbe): Result {
  const withParameter = (supports.get('CHANMODES') ?? '').split(',').slice(1, 3).join('');
  if (withParameter.includes('H')) return of('history', ok('channels can keep a history'));
  const what = 'channels keep no history (+H): after a lost connection the line in flight is sent again';
  return of('history', warn(what, 'enable the chanhistory module of the server'));
}

async function nick(probe: IrcProbe, installation: Installation): Promise<Result> {
  const { EM_NICK } = installation.config;
  const owner = await probe.whoHas(EM_NICK);
  const log = await installation.log().catch(() => undefined);
  const look = async () => {
    const held = log && (await leaseHolder(log, 'deliver-to-irc'));
    const state = held?.state as IrcState | undefined;
    return { held, isOurs: state?.connected === true && state.nick === EM_NICK };
  };
  const first = await look();
  let { isOurs } = first;
  if (owner !== undefined && first.held && !isOurs) {
    await delay(reportedMs); // our bot has the nick a little before its process reports it
    ({ isOurs } = await look());
  }
  if (isOurs) return of('nick', ok(`${EM_NICK} is our bot`));
  if (owner === undefined) return of('nick', ok(`the nick ${EM_NICK} is free`));
  const mend = 'have an operator of the network end that session, or set EM_NICK to another nick';
  return of('nick', fail(`${owner} has the nick ${EM_NICK}, and is not our bot`, mend));
}

async function operator(probe: IrcProbe, { ircOper }: KnownSecrets): Promise<Result> {
  const result = (given: Result) => of('operator', given);
  if (!ircOper) return result(skipped('no operator credentials are set (IRC_OPER_NAME)'));
  const refusal = await probe.oper(ircOper.name, ircOper.password);
  const whose = `the operator credentials of ${ircOper.name}`;
  if (refusal === undefined) return result(ok(`${whose} are accepted`));
  const mend =
    'set IRC_OPER_NAME and IRC_OPER_PASSWORD to what the server has, and see from which hosts it takes them';
  return result(fail(`${whose} are refused: ${refusal}`, mend));
}

/** Of our own network: on a given one it is its operators' business who registers nicks. */
async function nickService(probe: IrcProbe, { findAnope }: Installation): Promise<Result> {
  const result = (given: Result) => of('nick-service', given);
  const owner = await probe.whoHas(nickServiceNick);
  if (owner !== undefined) return result(ok(`${nickServiceNick} is there: nicks can be registered`));
  const found = lookForAnope(findAnope);
  const what = 'there is no nick service: nobody can identify on IRC, and LINK is refused there';
  if ('without' in found)
    return result(warn(`${what}: ${found.without}`, 'run scripts/setup and start the service again'));
  return result(warn(what, 'wait, if the service started a moment ago; else see its log'));
}

/** The IRC network. */
export const ircChecks: Check[] = [network];

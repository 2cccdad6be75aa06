import type { RunningIncident } from '../../projections/moderation/running.js';
import {
  type Action,
  type Enforced,
  type Enforcement,
  loopPattern,
  moderation,
  personDecider,
} from '../../streams/moderation/index.js';
import { type GuardOptions, guard } from './options.js';
import { wordsFor } from './words.js';

/** An incident whose action is pending. */
export type Pending = Pick<
  RunningIncident,
  'id' | 'ref' | 'subject' | 'nick' | 'host' | 'account' | 'channel' | 'patterns' | 'action' | 'seconds'
>;

const acts: Partial<Record<Action, Enforcement['act']>> = {
  notice: 'notice',
  quiet: 'quiet',
  kick: 'kick',
  ban: 'ban',
};

/** Does what an incident asks for and records the outcome. Throws `Unavailable` if the outcome is unknown. */
export async function carryOut(options: GuardOptions, incident: Pending): Promise<Enforced['is']> {
  const { id, nick, channel, action, patterns } = incident;
  const seconds = incident.seconds ?? undefined;
  const came = await options.enforce({
    act: acts[action]!,
    channel,
    nick,
    host: incident.host ?? undefined,
    account: incident.account ?? undefined,
    sparing: options.bots,
    // their people may come from the same host
    ...(patterns === loopPattern ? { thisUser: true as const } : {}),
    text: wordsFor(id, { action, channel, patterns, seconds }, options.appealTo),
  });
  await answer(options, incident, came);
  return came.is;
}

/** Records the outcome of an incident's action. */
export async function answer(
  { log }: Pick<GuardOptions, 'log'>,
  { subject, ref, action, seconds }: Pending,
  enforced: Enforced,
): Promise<void> {
  const until =
    seconds === null || enforced.is !== 'done'
      ? {}
      : { until: new Date(log.now().getTime() + seconds * 1_000).toISOString() };
  const came =
    enforced.is === 'done'
      ? {
          ...until,
          ...(enforced.mask === undefined ? {} : { mask: enforced.mask }),
          ...(enforced.voice ? { voice: enforced.voice } : {}),
        }
      : enforced.is === 'failed'
        ? { error: enforced.error }
        : {};
  const command = { is: 'answer' as const, subject, ref, action, outcome: enforced.is, ...came };
  await log.handle(moderation, personDecider, command, { by: guard });
}

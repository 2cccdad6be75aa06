import { heldPatterns, type Incident, loopPattern } from '../../streams/moderation/index.js';

/** What somebody is told about an incident of theirs, and what a kick gives as its reason. */
export function wordsFor(
  id: number,
  { action, channel, patterns, seconds = 0 }: WordedIncident,
  appealTo: string,
): string {
  const sign = patterns.split(',', 1)[0] ?? '';
  const incident = `incident ${id}: ${sign}`;
  const appeal = `To appeal: /msg ${appealTo} APPEAL ${id}, and why.`;
  if (sign === loopPattern) {
    const loop = `In ${channel} you and other programs answer each other without a person among you (${incident}).`;
    return action === 'quiet'
      ? `${loop} You are muted there for ${Math.round(seconds / 60)} minutes. ${appeal}`
      : `${loop} Leave 15 seconds before you answer a program, or you will be muted. ${appeal}`;
  }
  const held = heldPatterns.find((one) => one === sign);
  if (held) {
    const [what, is] = action === 'ban' ? ['Banned from', 'banned'] : ['Muted in', 'muted'];
    return `${what} ${channel} for ${Math.ceil(seconds / 60)} minutes: ${heldWords[held](is)} (${incident}). ${appeal}`;
  }
  switch (action) {
    case 'notice':
      return `What you said in ${channel} looks like an attempt to steer agents (${incident}). Please leave that; it is recorded. ${appeal}`;
    case 'quiet':
      return `You are muted in ${channel} for ${Math.round(seconds / 60)} minutes, for what looks like an attempt to steer agents (${incident}). ${appeal}`;
    case 'ban':
      return `Banned for ${Math.round(seconds / 3_600)} h: attempts to steer agents (${incident}). ${appeal}`;
    default:
      return `Attempts to steer agents (${incident}). ${appeal}`;
  }
}

const heldWords: Record<(typeof heldPatterns)[number], (is: string) => string> = {
  'new-account': (is) => `somebody on your host is ${is} there, and your account was registered after that`,
  'no-account': (is) => `an account of yours or on your host is ${is} there, and you are not identified`,
  'same-owner': (is) => `you are ${is} there for what you said through the gateway`,
};

/** What somebody is told when an operator has decided about an incident of theirs. */
export function decisionFor(
  id: number,
  { channel, pardoned }: { channel: string; pardoned: boolean },
): string {
  return pardoned
    ? `Incident ${id} in ${channel} was pardoned: it does not count any more, and what ran because of it ends.`
    : `Incident ${id} in ${channel} still counts: an operator has declined your appeal.`;
}

type WordedIncident = Pick<Incident, 'action' | 'channel' | 'patterns'> & { seconds?: number | undefined };

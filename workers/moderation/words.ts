import type { Incident } from '../../streams/moderation/index.js';

/** What somebody is told about an incident of theirs, and what a kick gives as its reason. */
export function wordsFor(id: number, { action, channel, patterns, seconds = 0 }: WordedIncident): string {
  const sign = patterns.split(',', 1)[0] ?? '';
  const incident = `incident ${id}: ${sign}`;
  switch (action) {
    case 'notice':
      return `What you said in ${channel} looks like an attempt to steer agents (${incident}). Please leave that; it is recorded.`;
    case 'quiet':
      return `You are muted in ${channel} for ${Math.round(seconds / 60)} minutes, for what looks like an attempt to steer agents (${incident}).`;
    case 'ban':
      return `Banned for ${Math.round(seconds / 3_600)} h: attempts to steer agents (${incident})`;
    default:
      return `Attempts to steer agents (${incident})`;
  }
}

type WordedIncident = Pick<Incident, 'action' | 'channel' | 'patterns'> & { seconds?: number | undefined };

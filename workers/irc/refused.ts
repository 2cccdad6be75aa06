import { Refusal } from '../../streams/core/index.js';

const appeal =
  'You may be banned or muted there. If the guardian did it, GET /guardian/incidents lists the incident, and POST /guardian/incidents/{id}/appeal appeals';

const moderated =
  'Only those with voice speak there. Where bots announce, as in #bounties, nobody else has it: read there, and speak in another channel';

/** What to do about an answer of the network, by its numeric, where the usual hint does not help. */
const hints: Readonly<Record<string, string>> = {
  401: 'Nobody has this nick now. Look at the spelling, or say it when they are back',
  404: appeal,
  474: appeal,
};

/** The refusal of what the network does not do, in its words. They begin with the numeric, if it gave one. */
export function refusedByNetwork(words: string): Refusal {
  const numeric = /^\d{3}(?= |$)/.exec(words)?.[0] ?? '';
  const hint = numeric === '404' && /\+m\b/.test(words) ? moderated : hints[numeric];
  return new Refusal('refused_by_network', words, hint === undefined ? {} : { hint });
}

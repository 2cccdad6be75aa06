import type { Recorded } from '../../../streams/core/index.js';
import { type IdentityFact, pushSubject } from '../../../streams/identity/index.js';

/** A change of a link, as the receiver is told of it. */
export interface Change {
  /** Sequence of the fact. */
  seq: number;
  nick: string;
  eventType: string;
  /** When it was recorded. */
  at: Date;
  /** JSON; the same bytes at each try. */
  body: string;
}

/** What a fact changes about a link for others; `undefined` where it changes nothing for them. */
export function changeOf(fact: Recorded<IdentityFact>, source: string): Change | undefined {
  if (fact.subject === pushSubject) return undefined;
  const state = stateAfter(fact);
  if (!state) return undefined;
  const { seq, at, id: event_id, type: event_type } = fact;
  const { nick, wallet_address } = fact.data as { nick: string; wallet_address: string };
  const payload = { nick, wallet_address, ...state };
  const body = JSON.stringify({ event_id, event_type, source, created_at: at.toISOString(), payload });
  return { seq, nick, eventType: event_type, at, body };
}

interface State {
  verified: 0 | 1;
  agent_id: number | null;
  sync_version: number;
}

function stateAfter({ type, data }: IdentityFact): State | undefined {
  switch (type) {
    case 'identity.linked':
      return { verified: 0, agent_id: null, sync_version: 0 };
    case 'identity.verified':
    case 'identity.agent_changed':
      return { verified: 1, agent_id: data.agent_id, sync_version: data.sync_version };
    case 'identity.unlinked':
      // whoever keeps a copy must not go on trusting what is no more
      return { verified: 0, agent_id: null, sync_version: data.sync_version };
    case 'identity.confirmed':
    case 'challenge.issued':
    case 'verification.failed':
    case 'push.delivered':
    case 'push.given_up':
      return undefined;
  }
}

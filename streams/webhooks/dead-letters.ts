import { type Decider, Refusal } from '../core/index.js';
import { type DeadMessage, deliverySubjects, type WebhookDeliveryFact } from './facts.js';

/** The messages of a nick that were given up: by id, and whether they were redriven since. */
export interface DeadState {
  dead: Map<number, { letter: DeadMessage; redriven: boolean }>;
}

/** What can be asked for a message that was given up. `person` is that of the caller; an operator has none. */
export interface RedriveMessage {
  nick: string;
  seq: number;
  person: string | null;
}

/** So many of the last ones of a nick can be redriven. */
const mostDead = 400;

/** A message that was given up can be redriven, until it is given up again. */
export const deadMessagesDecider: Decider<DeadState, RedriveMessage, WebhookDeliveryFact> = {
  initial: () => ({ dead: new Map() }),
  subject: ({ nick }) => deliverySubjects(nick).dead,
  evolve({ dead }, { type, data }) {
    if (type === 'message.dead_lettered') {
      dead.delete(data.seq);
      dead.set(data.seq, { letter: data, redriven: false });
      if (dead.size > mostDead) dead.delete(dead.keys().next().value!);
    } else if (type === 'message.redriven') {
      const found = dead.get(data.seq);
      if (found) found.redriven = true;
    }
  },
  decide({ nick, seq, person }, { dead }) {
    const found = dead.get(seq);
    if (!found || !isOf(found.letter, person))
      throw new Refusal('webhook_message_not_found', `No dead letter of ${nick} has the id ${seq}`);
    if (found.redriven) throw new Refusal('message_not_dead');
    const { person: owner, body } = found.letter;
    return { type: 'message.redriven', data: { nick, seq, person: owner, body } };
  },
};

/** Whether a message for a webhook is for a person: an operator sees each. */
export function isOf(letter: Pick<DeadMessage, 'person'>, person: string | null): boolean {
  return person === null || letter.person === null || letter.person === person;
}

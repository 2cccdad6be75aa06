import type { Recorded } from '../../streams/core/index.js';
import {
  contributionTypes,
  type IncidentCommand,
  type IncidentFact,
  incidentDecider,
  severities,
} from '../../streams/incidents/index.js';
import { randomNumbers } from '../reputation/history.js';

/** Made-up reports and votes, as the log would have them. */
export function incidentHistory(commands: number): Recorded<IncidentFact>[] {
  const random = randomNumbers(3);
  const facts: Recorded<IncidentFact>[] = [];
  const states: ReturnType<typeof incidentDecider.initial>[] = [];
  const voter = () => {
    const n = random(12);
    // nobody vouches for three of them
    return { voter: `${random(2) ? 'V' : 'v'}oter${n}`, ...(n < 9 ? {} : { stands: false }) };
  };
  const idOf = (n: number) => `inc-${String(n).padStart(8, '0')}`;
  for (let n = 0; n < commands; n++) {
    const isReport = states.length === 0 || random(5) === 0;
    const which = isReport ? states.length : random(states.length);
    const id = idOf(which);
    const command: IncidentCommand = isReport
      ? {
          is: 'report',
          id,
          title: `Incident ${which}\0`,
          severity: severities[random(4)]!,
          category: random(2) ? 'leak' : null,
          affected: ['#a', 'b\0c'].slice(random(3)),
          description: random(2) ? 'It "leaks"' : null,
          fixes: [],
          sourcePosts: ['https://x.example/1'],
          advisoryUrls: [],
          reporter: `Reporter${random(6)}`,
        }
      : {
          is: 'vote',
          id,
          ...voter(),
          // most incidents have voters of one opinion
          score: Math.min(100, [0, 45, 75][which % 3]! + random(random(8) === 0 ? 60 : 26)),
          contributionType: contributionTypes[random(4)]!,
          comment: random(2) ? `vote ${n}` : null,
          evidenceUrl: random(2) ? `https://paste.example/${n}` : null,
        };
    if (isReport) states.push(incidentDecider.initial());
    const state = states[which]!;
    try {
      const fact = incidentDecider.decide(command, state, new Date(0))!;
      incidentDecider.evolve(state, fact);
      const seq = facts.length + 1;
      const at = new Date(Date.UTC(2026, 2, 1) + n * 60_000);
      const place = { stream: 'INCIDENTS', subject: incidentDecider.subject(command), seq, at };
      facts.push({ ...fact, ...place, id: `f${seq}`, by: 'test', cause: null });
    } catch (error) {
      if ((error as { code?: string }).code !== 'already_voted') throw error;
    }
  }
  return facts;
}

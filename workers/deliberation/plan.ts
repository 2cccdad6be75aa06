import type { Transcript } from './transcript.js';

/** The next step of a query. */
export type Step =
  | { is: 'start' }
  /** Models to ask at the same time, in one round; round 0 is the synthesis. */
  | { is: 'ask'; round: number; models: string[] }
  /** An answer exists from which the result can be read: a synthesis, or the only answer. */
  | { is: 'conclude'; model: string; content: string; synthesized: boolean }
  | { is: 'complete' }
  | { is: 'give up'; code: string; message: string }
  | { is: 'nothing' };

/** Models that are asked for a synthesis, one after the other, until one gives it. */
const mostSynthesizers = 3;

/** The next step, from the record alone: any process continues where another one ended. */
export function nextStep(transcript: Transcript): Step {
  const { query, status } = transcript;
  if (!query || status === 'ended') return { is: 'nothing' };
  if (status === 'queued') return { is: 'start' };
  if (status === 'concluded') return { is: 'complete' };
  let speaking = query.models;
  for (let round = 1; round <= query.rounds; round++) {
    const open = speaking.filter((model) => transcript.outcome(round, model).is === 'open');
    if (open.length > 0) {
      // at a round table, each one has heard those before
      return { is: 'ask', round, models: query.strategy === 'roundtable' ? open.slice(0, 1) : open };
    }
    const failures = speaking.map((model) => codeOf(transcript, round, model));
    if (round === 1) {
      const answered = failures.filter((code) => code === undefined).length;
      if (answered < Math.min(2, query.models.length)) return tooFew(failures);
    }
    // no money for more rounds: the rest is kept for the synthesis
    if (failures.includes('cost_ceiling')) break;
    speaking = speaking.filter((model) => transcript.outcome(round, model).is === 'answered');
  }
  return synthesis(transcript);
}

function synthesis(transcript: Transcript): Step {
  const { models, synthesizer } = transcript.query!;
  const [only] = models;
  if (models.length === 1)
    return { is: 'conclude', model: only!, content: transcript.lastAnswer(only!)!, synthesized: false };
  const answered = models.filter((model) => transcript.lastAnswer(model) !== undefined);
  const first = answered.includes(synthesizer) || !models.includes(synthesizer) ? [synthesizer] : [];
  const candidates = [...new Set([...first, ...answered])].slice(0, mostSynthesizers);
  for (const model of candidates) {
    const outcome = transcript.outcome(0, model);
    if (outcome.is === 'open') return { is: 'ask', round: 0, models: [model] };
    if (outcome.is === 'answered')
      return { is: 'conclude', model, content: outcome.content, synthesized: true };
  }
  const codes = candidates.map((model) => codeOf(transcript, 0, model));
  const code = codes.every((code) => code === 'cost_ceiling') ? 'cost_ceiling' : 'synthesis_failed';
  return { is: 'give up', code, message: `no model could draw the answers together: ${codes.join(', ')}` };
}

function tooFew(codes: (string | undefined)[]): Step {
  const failures = codes.filter((code) => code !== undefined);
  const code = failures.every((code) => code === 'cost_ceiling') ? 'cost_ceiling' : 'too_few_answers';
  return { is: 'give up', code, message: `too few models answered: ${failures.join(', ')}` };
}

/** Why a model has failed; `undefined` if it has not. */
function codeOf(transcript: Transcript, round: number, model: string): string | undefined {
  const outcome = transcript.outcome(round, model);
  return outcome.is === 'failed' ? outcome.code : undefined;
}

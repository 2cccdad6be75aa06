import type { Invocation } from './command.js';

/** Whether a person at the terminal answers a question with yes. */
export async function isAgreed(
  { terminal, stop }: Pick<Invocation, 'terminal' | 'stop'>,
  question: string,
): Promise<boolean> {
  const answer = await terminal.ask?.(`${question} [y/N] `, stop).catch(() => '');
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

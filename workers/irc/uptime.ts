import type { Session } from './session.js';

/** Since when the server has been running, by its own word (numeric 242), in milliseconds like `now`; `undefined` when it does not tell. */
export async function serverUpSince(session: Session, now: number): Promise<number | undefined> {
  const answer = await session.command('STATS', 'u');
  const told = answer.is === 'answered' ? answer.lines.find(({ command }) => command === '242') : undefined;
  const [, days, hours, minutes, seconds] =
    /(\d+) days?,? (\d+):(\d+):(\d+)/i.exec(told?.params.at(-1) ?? '') ?? [];
  if (seconds === undefined) return undefined;
  return now - (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

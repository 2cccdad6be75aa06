import { casefold } from '../../../streams/irc-grammar.js';
import type { Heard } from '../irc/person.js';
import type { Stage } from '../scenario.js';
import { clockOf, type ExpectedFloor } from './expected-floor.js';
import type { Question, RecordedFloors } from './recorded-floors.js';

/** While all is well, who asks is answered so soon. */
const answeredWithinMs = 3_000;
/** How long after a question was recorded somebody may hear of it while something fails. */
const effectMs = 60_000;
/** The same answer to the same question comes once in this time. */
const onceMs = 10_000;
/** How soon somebody may be gone before an answer reaches them. */
const goneMs = 1_000;

interface Notice {
  at: number;
  to: string;
  text: string;
  isUsed: boolean;
}

/** What people were told of what they asked of floors, held against what was recorded. */
export class FloorAnswers {
  readonly #stage: Stage;
  readonly #recorded: RecordedFloors;
  readonly #bot: string;
  readonly #notices: Notice[] = [];

  constructor(stage: Stage, recorded: RecordedFloors, bot: string) {
    this.#stage = stage;
    this.#recorded = recorded;
    this.#bot = bot;
  }

  /** Takes note of a line that somebody was shown. */
  hear({ command, from, parameters: [to = '', text = ''] }: Heard): void {
    if (command !== 'NOTICE' || !from.startsWith(`${this.#bot}!`) || !text.includes('floor')) return;
    this.#notices.push({ at: this.#stage.world.now, to: nameIn(to), text, isUsed: false });
  }

  /** Each question is answered once, and again after a while or when the answer has changed. */
  judge(): void {
    const { calms, questions } = this.#recorded;
    const known = new Map<string, { told: string; at: number }>();
    /** Questions that were perhaps answered before, by whoever had the work then, or not at all. */
    const perhaps: Question[] = [];
    for (const question of questions) {
      const { channel, by, is, at, after } = question;
      this.#stage.count(`asked: ${is}`);
      // the channel is told, or it is not so any more
      if (is === 'passed on' || !isStillSo(question)) continue;
      const calm = calms.find(({ from, to }) => at >= from && at <= to - answeredWithinMs);
      const about = `${channel} ${casefold(by)} ${is}`;
      const last = known.get(about);
      const isSure = calm !== undefined && at >= calm.from + onceMs;
      if (isSure && last?.told === after.told && at - last.at < onceMs) continue;
      if (calm) known.set(about, { told: after.told, at });
      if (!isSure || this.#recorded.isGone(by, { from: at, to: at + goneMs })) perhaps.push(question);
      else
        this.#stage.check('who asks is answered', this.#use(question, answeredWithinMs), () => {
          const told = this.#notices.filter((one) => one.to === nameIn(by) && Math.abs(one.at - at) < 5_000);
          return `${channel} at ${at}: ${by} ${is}, ${after.words}; ${JSON.stringify(told)}`;
        });
    }
    for (const question of perhaps) this.#use(question, effectMs);
    for (const notice of this.#notices) this.#judgeNotice(notice);
  }

  #judgeNotice(notice: Notice): void {
    const { at, to, text, isUsed } = notice;
    const found = () => `${to} at ${at}: ${text}`;
    const isSo = isUsed || this.#recorded.questions.some((one) => this.#isAnswer(one, notice, effectMs));
    this.#stage.check('nobody is told what did not come of it', isSo, found);
    // two that hold the lease for a while both answer
    const happened = this.#recorded.happened({ from: at - effectMs, to: at });
    const mayBeTwo = !this.#recorded.isCalm(at) && happened.some(({ what }) => what === 'lease taken');
    this.#stage.check('nobody is answered twice', isUsed || !isSo || mayBeTwo, found);
  }

  /** Takes the first answer to a question, if it came in time. */
  #use(question: Question, withinMs: number): boolean {
    const notice = this.#notices.find((one) => !one.isUsed && this.#isAnswer(question, one, withinMs));
    if (notice) notice.isUsed = true;
    return notice !== undefined;
  }

  #isAnswer(question: Question, { at, to, text }: Notice, withinMs: number): boolean {
    if (to !== nameIn(question.by) || at < question.at || at > question.at + withinMs) return false;
    const floors = [question.floor, question.after, this.#recorded.after(question, at)];
    return floors.some((floor) => isAnswerTo(question, text, floor));
  }
}

/** Who is meant, under whatever nick: what is on its way to one nick of somebody may reach them under another. */
const nameIn = (nick: string): string => /^[a-z]+/.exec(casefold(nick))![0];

/** Whether somebody has, after all that was recorded with their line, what they got by it. */
function isStillSo({ by, is, after: { places } }: Question): boolean {
  const place = places.findIndex(({ nick }) => casefold(nick) === casefold(by));
  return is === 'waits' ? place > 0 : (is !== 'got it' && is !== 'has it') || place === 0;
}

/** Whether a text tells somebody what came of their line, by the floor as it then was. */
function isAnswerTo({ by, is, channel }: Question, text: string, floor: ExpectedFloor): boolean {
  const words = wordsOf(is, by, floor);
  return words !== undefined && new RegExp(`^${words.replace('#c', channel)}$`).test(text);
}

function wordsOf(
  is: Question['is'],
  by: string,
  { places, lead, until, words }: ExpectedFloor,
): string | undefined {
  const place = places.findIndex(({ nick }) => casefold(nick) === casefold(by));
  switch (is) {
    case 'got it':
      return place === 0 ? `You have the floor of #c until ${clockOf(until)}\\..*` : undefined;
    case 'has it':
      return place === 0 ? 'You have the floor of #c\\. .*' : undefined;
    case 'waits':
      return place > 0
        ? `You are number ${place} of ${places.length - 1} who wait for the floor of #c\\..*`
        : undefined;
    case 'full':
      return 'Too many wait for the floor of #c, .*';
    case 'passed on':
      return undefined;
    case 'gave up':
      return 'You wait for the floor of #c no more';
    case 'no place':
      return 'You neither have the floor of #c nor wait for it';
    case 'leads':
      return 'You have opened the floor of #c: .*';
    case 'closed':
      return 'The floor of #c is closed: .*';
    case 'may not':
      return `Only ${lead ? `${escaped(lead.nick)}, ` : ''}who opened the floor,? and operators of #c may do that`;
    case 'status': {
      const names = places.slice(1).map(({ nick }) => escaped(nick));
      return `#c: ${escaped(words)}${names.length > 0 ? `: ${names.slice(0, 5).join(', ')}.*` : ''}`;
    }
    case 'unknown':
      return '/floor asks for the floor\\. .*';
  }
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

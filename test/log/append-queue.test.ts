import t from 'tap';
import { AppendQueue } from '../../streams/core/append-queue.js';
import { EndOfTurn } from '../../streams/core/end-of-turn.js';
import type { Message, PublishAnswer } from '../../streams/core/publisher.js';

/** A log that has only sequences, answers in the next turn, and counts what it is asked. */
function smallLog() {
  const last = new Map<string, number>();
  const asked = { singles: 0, groups: [] as number[], looks: 0 };
  let seq = 0;
  const isWrong = ({ subject, options }: Message) =>
    options.expectedLastSubjectSequence !== undefined &&
    options.expectedLastSubjectSequence !== (last.get(subject) ?? 0);
  const store = ({ subject }: Message) => void last.set(subject, ++seq);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    asked,
    lastSequences: async (subjects: string[]) => {
      asked.looks += 1;
      return new Map([...last].filter(([subject]) => subjects.includes(subject)));
    },
    publisher: {
      async publish(subject: string, data: Uint8Array, options: Message['options']): Promise<PublishAnswer> {
        asked.singles += 1;
        const message = { subject, data, options };
        const conflict = isWrong(message);
        if (!conflict) store(message);
        const at = seq;
        await turn();
        return conflict ? { is: 'conflict' } : { is: 'stored', seq: at, duplicate: false };
      },
      async publishGroup(messages: readonly Message[]): Promise<PublishAnswer> {
        asked.groups.push(messages.length);
        const conflict = messages.some(isWrong);
        if (!conflict) messages.forEach(store);
        const at = seq;
        await turn();
        return conflict ? { is: 'conflict' } : { is: 'stored', seq: at, duplicate: false };
      },
    },
  };
}

function queueOf(log: ReturnType<typeof smallLog>) {
  const queue = new AppendQueue(log.publisher as never, new EndOfTurn(), log.lastSequences);
  return (subject: string, after?: number, bytes = 1) =>
    queue.publish(subject, new Uint8Array(bytes), {
      id: subject,
      timeoutMs: 1_000,
      expectedLastSubjectSequence: after,
    });
}

t.test('LOG-11 a group with many conflicts inside is refused once', async (t) => {
  const log = smallLog();
  const append = queueOf(log);
  await Promise.all(Array.from({ length: 10 }, (_, n) => append(`known${n}`, 0)));
  t.same(log.asked, { singles: 10, groups: [], looks: 0 }, 'a few go one by one');
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => append(n % 20 === 0 ? `known${n / 20}` : `new${n}`, 0)),
  );
  t.same(
    answers.map(({ is }) => is),
    answers.map((_, n) => (n % 20 === 0 ? 'conflict' : 'stored')),
  );
  t.same(log.asked, { singles: 10, groups: [200, 190], looks: 1 });
});

t.test('LOG-11 what comes while a group is under way goes into the next one', async (t) => {
  const log = smallLog();
  const append = queueOf(log);
  const first = Array.from({ length: 20 }, (_, n) => append(`a${n}`));
  await new Promise<void>((resolve) => setImmediate(resolve));
  const next = Array.from({ length: 30 }, (_, n) => append(`b${n}`));
  await Promise.all([...first, ...next]);
  t.same(log.asked.groups, [20, 30]);
});

t.test('LOG-11 groups are bounded in number and bytes', async (t) => {
  const log = smallLog();
  const append = queueOf(log);
  await Promise.all(Array.from({ length: 600 }, (_, n) => append(`a${n}`)));
  t.same(log.asked.groups, [256, 256, 88]);
  await Promise.all(Array.from({ length: 40 }, (_, n) => append(`b${n}`, 0, 20_000)));
  t.same(log.asked.groups.slice(3), [26]);
});

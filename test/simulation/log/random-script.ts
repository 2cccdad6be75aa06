import { AckPolicy, DeliverPolicy, DiscardPolicy, nanos } from 'nats';
import { Random } from '../random.js';
import type { Script } from './model.js';

const subjects = ['a', 'b', 'c.d', 'c.e'];
const filters = ['a', 'b', 'c.*', '>', 'c.d'];
const limits = [
  {},
  {},
  { max_msgs: 8, discard: DiscardPolicy.New },
  { max_msgs: 8, discard: DiscardPolicy.Old },
  { max_msgs_per_subject: 2 },
  { max_bytes: 600, discard: DiscardPolicy.New },
];

/** What a step does, and how it is named. */
type Step = [what: unknown, work: () => Promise<unknown>];

/** A script of so many steps that a seed decides. */
export async function randomScript(script: Script, seed: number, steps: number): Promise<void> {
  const random = new Random(seed);
  const { streams, consumers } = script.manager;
  const limit = random.pick(limits);
  await streams.add({
    name: script.name,
    subjects: [`${script.name}.>`],
    allow_direct: true,
    ...limit,
  } as never);
  const made: string[] = [];
  let ids = 0;
  let head = 0;
  const somewhere = () => random.int(0, head + 2);
  const subject = () => script.subject(random.pick(filters));
  const consumer = () => (made.length > 0 ? random.pick(made) : 'nobody');
  const direct = (query: object): Step => [query, () => script.direct(query)];

  const publish = (): Step => {
    const after = random.pick([undefined, undefined, 0, somewhere()]);
    const id = random.chance(0.5) ? `id-${random.chance(0.3) ? random.int(0, ids) : ++ids}` : undefined;
    const [to, text] = [random.pick(subjects), 'x'.repeat(random.int(0, 40))];
    const options = {
      ...(id === undefined ? {} : { msgID: id }),
      ...(after === undefined ? {} : { expect: { lastSubjectSequence: after } }),
    };
    const work = async () => {
      const answer = (await script.publish(to, text, options)) as { seq: number };
      head = Math.max(head, answer.seq);
      return answer;
    };
    return [[to, id, after], work];
  };
  const purge = (): Step => {
    const what = random.pick<object>([
      { filter: subject() },
      { seq: somewhere() + 2 },
      { keep: random.int(0, 3) },
    ]);
    return [what, () => streams.purge(script.name, what as never)];
  };
  const remove = (): Step => {
    const seq = somewhere();
    return [seq, () => streams.deleteMessage(script.name, seq)];
  };
  const add = (): Step => {
    const name = `one-${made.length + 1}`;
    const place = random.pick([
      { deliver_policy: DeliverPolicy.All },
      { deliver_policy: DeliverPolicy.New },
      { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: somewhere() + 1 },
    ]);
    const policy = random.pick([AckPolicy.All, AckPolicy.Explicit, AckPolicy.None]);
    const config = {
      durable_name: name,
      ack_policy: policy,
      ...place,
      ...(policy === AckPolicy.None
        ? {}
        : { ack_wait: nanos(3_600_000), max_ack_pending: random.pick([3, 1_000]) }),
      ...(random.chance(0.3) ? {} : { filter_subject: subject() }),
    };
    const work = async () => {
      await consumers.add(script.name, config);
      made.push(name);
      return await script.consumer(name);
    };
    return [name, work];
  };
  const pull = (): Step => {
    const [name, batch] = [consumer(), random.int(1, 4)];
    return [[name, batch], () => script.pull(name, batch)];
  };
  const say = (): Step => {
    const what = [consumer(), somewhere(), random.pick(['+ACK', '+ACK', '-NAK', '+TERM'])] as const;
    return [what, () => script.say(...what)];
  };
  const info = (): Step => {
    const name = consumer();
    return [name, () => script.consumer(name)];
  };
  const bag: [weight: number, step: () => Step][] = [
    [10, publish],
    [1, () => direct({ seq: somewhere() })],
    [1, () => direct({ last_by_subj: subject() })],
    [2, () => direct({ seq: somewhere(), next_by_subj: subject() })],
    [1, remove],
    [1, purge],
    [1, () => ['stream', () => script.stream()]],
    [2, add],
    [4, pull],
    [4, say],
    [2, info],
  ];
  const drawn = bag.flatMap(([weight, step]) => Array<() => Step>(weight).fill(step));
  for (let n = 0; n < steps; n++) {
    const step = random.pick(drawn);
    const [what, work] = step();
    await script.note(`${n} ${step.name} ${JSON.stringify(what)}`, work);
  }
  await script.note('stream', () => script.stream());
  for (const name of made) await script.note(name, () => script.consumer(name));
}

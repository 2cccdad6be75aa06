import { AckPolicy, DeliverPolicy, DiscardPolicy, nanos } from 'nats';
import { explicit, type Script, type Server } from './model.js';

/** What both kinds of server are asked. */
export interface Played {
  title: string;
  /**
   * For the server that stores groups, or for the one before it only. Where a consumer begins and what it
   * reports about its position is simulated like the latter.
   */
  only?: 'old' | 'new';
  run(script: Script, server: Server): Promise<void>;
}

const stream = (script: Script, more: object = {}) =>
  script.manager.streams.add({
    name: script.name,
    subjects: [`${script.name}.>`],
    allow_direct: true,
    ...more,
  } as never);

async function fill(script: Script, count: number, subjects = ['a', 'b']): Promise<void> {
  for (let n = 0; n < count; n++) await script.publish(subjects[n % subjects.length]!, `text ${n}`);
}

/** One script for each feature that the product uses. */
export const scripts: Played[] = [
  {
    title: 'a stream is made, changed, listed and refused',
    async run(script) {
      const { manager, name } = script;
      const add = (more: object) => () => stream(script, more).then(() => script.stream());
      await script.note('missing', () => script.stream());
      await script.note('add', add({ max_bytes: 10_000, duplicate_window: nanos(120_000) }));
      await script.note('again', add({ max_bytes: 10_000, duplicate_window: nanos(120_000) }));
      await script.note('different', add({ max_bytes: 20_000, duplicate_window: nanos(120_000) }));
      await script.note('update', () =>
        manager.streams
          .update(name, { max_bytes: 30_000, metadata: { mark: '7' } })
          .then(() => script.stream()),
      );
      await script.note('window', () => manager.streams.update(name, { max_age: nanos(1_000) }));
      await script.note('storage', () => manager.streams.update(name, { storage: 'memory' } as never));
      await script.note('overlap', () =>
        manager.streams.add({ name: `${name}-2`, subjects: [`${name}.a`] }).then(() => 'made'),
      );
      await script.note('names', () => manager.streams.names(`${name}.x`).next());
      await fill(script, 5, ['a', 'b.c', 'b.d']);
      await script.note('subjects', () =>
        manager.streams.info(name, { subjects_filter: `${name}.b.*` }).then(({ state }) => state.subjects),
      );
      await script.note('delete', () => manager.streams.delete(name));
      await script.note('delete again', () => manager.streams.delete(name));
      await script.note('nobody', () => script.publish('a', ''));
    },
  },
  {
    title: 'messages are stored together or not at all',
    only: 'new',
    async run(script) {
      await stream(script, { duplicate_window: nanos(120_000) });
      await script.note('not allowed', () => script.group([['a'], ['b']]));
      const { config } = await script.manager.streams.info(script.name);
      await script.manager.streams.update(script.name, { ...config, allow_atomic: true } as never);
      await script.note('allowed', async () => {
        const { config: now } = await script.manager.streams.info(script.name);
        return (now as { allow_atomic?: boolean }).allow_atomic;
      });
      await script.note('two', () =>
        script.group([
          ['a', 'a1', 0],
          ['b', 'b1', 0],
        ]),
      );
      await script.note('one of two is stale', () =>
        script.group([
          ['c', 'c1', 0],
          ['a', 'a2', 0],
        ]),
      );
      await script.note('refused ids are free', () => script.group([['c', 'c1', 0], ['a', 'a2', 1], ['d']]));
      await script.note('a known id', () =>
        script.group([
          ['e', 'e1'],
          ['f', 'a1'],
        ]),
      );
      await script.note('a known id, and stale', () =>
        script.group([
          ['e', 'e1', 0],
          ['a', 'a1', 0],
        ]),
      );
      await script.note('stale, then a known id', () =>
        script.group([
          ['a', 'e1', 0],
          ['f', 'a1', 0],
        ]),
      );
      await script.note('an id twice', () =>
        script.group([
          ['g', 'g1'],
          ['h', 'g1'],
        ]),
      );
      await script.note('both the first of a subject', () =>
        script.group([
          ['i', 'i1', 0],
          ['i', 'i2', 0],
        ]),
      );
      await script.note('behind one of the group', () =>
        script.group([
          ['j', 'j1', 0],
          ['j', 'j2'],
          ['j', 'j3'],
        ]),
      );
      await script.note('expecting behind one of the group', () =>
        script.group([
          ['k', 'k1'],
          ['k', 'k2', 0],
        ]),
      );
      await script.note('one alone', () => script.group([['l', 'l1', 0]]));
      await script.note('without its second', () => script.group([['m'], ['n'], ['o']], 2));
      await script.note('without its first', () => script.group([['m'], ['n'], ['o']], 1));
      await script.note('full', () =>
        script.manager.streams
          .update(script.name, { max_bytes: 800, discard: DiscardPolicy.New } as never)
          .then(() => script.group([['p'], ['q'], ['r', 'r'.repeat(500)]])),
      );
      await script.note('last of several', () => script.lastOf(['a', 'nothing', 'j', 'b']));
      await script.note('last of none', () => script.lastOf(['nothing']));
      await script.note('single ones go on', () =>
        script.publish('s', 'text', { expect: { lastSubjectSequence: 0 } }),
      );
      await script.note('state', () => script.stream());
    },
  },
  {
    title: 'appends with expectations and ids',
    async run(script) {
      await stream(script);
      const expecting = (lastSubjectSequence: number, msgID?: string) => ({
        expect: { lastSubjectSequence },
        ...(msgID ? { msgID } : {}),
      });
      await script.note('first', () => script.publish('a', '1', expecting(0, 'one')));
      await script.note('again', () => script.publish('a', '1', expecting(0, 'one')));
      await script.note('stale, same id', () => script.publish('a', '2', expecting(7, 'one')));
      await script.note('same id elsewhere', () => script.publish('b', 'other', { msgID: 'one' }));
      await script.note('stale', () => script.publish('a', '2', expecting(0, 'two')));
      await script.note('right, the refused id', () => script.publish('a', '2', expecting(1, 'two')));
      await script.note('other subject', () => script.publish('b', '1', expecting(0)));
      await script.note('ahead', () => script.publish('b', '1', expecting(9)));
      await script.note('last', () => script.publish('c', '1', { expect: { lastSequence: 3 } }));
      await script.note('not the last', () => script.publish('c', '1', { expect: { lastSequence: 3 } }));
      await script.note('delete', () => script.manager.streams.deleteMessage(script.name, 2));
      await script.note('behind a deleted one', () => script.publish('a', '3', expecting(2)));
      await script.note('behind the one before', () => script.publish('a', '3', expecting(1)));
      await script.note('purge', () =>
        script.manager.streams.purge(script.name, { filter: script.subject('b') }),
      );
      await script.note('none again', () => script.publish('b', '2', expecting(0)));
      await script.note('id of a deleted one', () => script.publish('a', '4', { msgID: 'two' }));
      await script.note('state', () => script.stream());
    },
  },
  {
    title: 'the duplicate window ends',
    async run(script) {
      await stream(script, { duplicate_window: nanos(300) });
      await script.note('first', () => script.publish('a', '1', { msgID: 'one' }));
      await script.note('inside', () => script.publish('a', '1', { msgID: 'one' }));
      await script.wait(700);
      await script.note('behind', () => script.publish('a', '1', { msgID: 'one' }));
    },
  },
  {
    title: 'single messages are read',
    async run(script) {
      await stream(script);
      await script.note('none', () => script.direct({ last_by_subj: script.subject('a') }));
      await script.note('none at all', () => script.direct({ seq: 1, next_by_subj: '>' }));
      await script.publish('a', 'one', { msgID: 'id-1' });
      await fill(script, 5, ['b', 'a', 'b.c']);
      await script.note('at', () => script.direct({ seq: 1 }));
      await script.note('behind', () => script.direct({ seq: 77 }));
      await script.note('last', () => script.direct({ last_by_subj: script.subject('a') }));
      await script.note('last of many', () => script.direct({ last_by_subj: script.subject('>') }));
      for (const seq of [0, 1, 2, 4, 6, 7]) {
        await script.note(`next ${seq}`, () => script.direct({ seq, next_by_subj: script.subject('a') }));
        await script.note(`any ${seq}`, () => script.direct({ seq, next_by_subj: '>' }));
        await script.note(`some ${seq}`, () => script.direct({ seq, next_by_subj: script.subject('b.*') }));
        await script.note(`get ${seq}`, () => script.get({ seq, next_by_subj: script.subject('b') }));
      }
      await script.note('get', () => script.get({ seq: 1 }));
      await script.note('get last', () => script.get({ last_by_subj: script.subject('b.c') }));
      await script.note('get none', () => script.get({ last_by_subj: script.subject('x') }));
      await script.note('delete', () => script.manager.streams.deleteMessage(script.name, 1));
      await script.note('delete again', () => script.manager.streams.deleteMessage(script.name, 1));
      await script.note('deleted', () => script.direct({ seq: 1 }));
      await script.note('get deleted', () => script.get({ seq: 1 }));
      await script.note('state', () => script.stream());
    },
  },
  {
    title: 'limits refuse or drop',
    async run(script) {
      await stream(script, { max_bytes: 400, discard: DiscardPolicy.New });
      for (let n = 0; n < 8; n++) await script.note(`bytes ${n}`, () => script.publish('a', 'x'.repeat(20)));
      await script.note('full', () => script.stream());
      await script.manager.streams.delete(script.name);
      await stream(script, { max_bytes: 400, discard: DiscardPolicy.Old });
      for (let n = 0; n < 8; n++)
        await script.note(`old ${n}`, () => script.publish(`s${n % 3}`, 'x'.repeat(20)));
      await script.note('dropped', () => script.stream());
      await script.manager.streams.delete(script.name);
      const keep = { max_msgs: 3, max_msgs_per_subject: 1, duplicate_window: nanos(1_000) };
      await stream(script, { ...keep, discard: DiscardPolicy.New });
      for (const subject of ['a', 'b', 'a', 'c', 'd', 'b']) {
        await script.note(`many ${subject}`, () => script.publish(subject, subject));
      }
      await script.note('one each', () => script.stream());
      await script.note('larger', () =>
        script.manager.streams.update(script.name, { max_msgs: 2 } as never).then(() => 'ok'),
      );
      await script.note('smaller', () => script.stream());
      await script.manager.streams.delete(script.name);
      await stream(script, { ...keep, discard: DiscardPolicy.Old });
      for (const subject of ['a', 'b', 'a', 'c', 'd', 'b']) await script.publish(subject, subject);
      await script.note('oldest gone', () => script.stream());
    },
  },
  {
    title: 'messages grow old',
    async run(script) {
      await stream(script, { max_age: nanos(1_500), duplicate_window: nanos(1_500) });
      await fill(script, 3);
      await script.note('there', () => script.stream());
      await script.wait(4_000);
      await script.note('gone', () => script.stream());
      await script.note('last gone', () => script.direct({ last_by_subj: script.subject('a') }));
      await script.note('expected', () => script.publish('a', 'x', { expect: { lastSubjectSequence: 0 } }));
    },
  },
  {
    title: 'purges',
    async run(script) {
      const { streams } = script.manager;
      await stream(script);
      await fill(script, 12, ['a', 'b', 'c.d']);
      await script.note('subject', () => streams.purge(script.name, { filter: script.subject('b') }));
      await script.note('state', () => script.stream());
      await script.note('before', () => streams.purge(script.name, { seq: 6 }));
      await script.note('state', () => script.stream());
      await script.note('keep', () => streams.purge(script.name, { keep: 2 }));
      await script.note('state', () => script.stream());
      await script.note('all', () => streams.purge(script.name));
      await script.note('state', () => script.stream());
      await script.note('ahead', () => streams.purge(script.name, { seq: 40 }));
      await script.note('state', () => script.stream());
      await script.note('next', () => script.publish('a', 'x'));
      await script.note('state', () => script.stream());
    },
  },
  {
    title: 'consumers begin where they are told to',
    only: 'old',
    async run(script) {
      const { consumers, streams } = script.manager;
      await stream(script);
      await fill(script, 12, ['a', 'b', 'c.d']);
      await streams.purge(script.name, { seq: 3 });
      const of = (name: string, config: object) =>
        script.note(name, async () => {
          await consumers.add(script.name, { durable_name: name, ...explicit, ...config });
          return await script.consumer(name);
        });
      await of('all', {});
      await of('new', { deliver_policy: DeliverPolicy.New });
      await of('last', { deliver_policy: DeliverPolicy.Last });
      await of('each', { deliver_policy: DeliverPolicy.LastPerSubject, filter_subject: script.subject('>') });
      for (const seq of [1, 3, 7, 12, 13, 40]) {
        const place = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: seq };
        await of(`from-${seq}`, place);
        await of(`some-${seq}`, { ...place, filter_subject: script.subject('a') });
        await of(`wild-${seq}`, {
          ...place,
          filter_subject: script.subject('c.*'),
          ack_policy: AckPolicy.All,
        });
        await of(`two-${seq}`, { ...place, filter_subjects: ['a', 'b'].map((one) => script.subject(one)) });
        await of(`none-${seq}`, { ...place, ack_policy: AckPolicy.None });
      }
      for (const { name } of await consumers.list(script.name).next()) {
        await script.note(`pull ${name}`, () => script.pull(name, 3));
        await script.note(`info ${name}`, () => script.consumer(name));
      }
      await script.note('count', () => script.stream());
    },
  },
  {
    title: 'a consumer is made again, updated and deleted',
    async run(script) {
      const { consumers } = script.manager;
      await stream(script);
      const config = { durable_name: 'one', ack_policy: AckPolicy.All, metadata: { holder: 'x' } };
      const add = (more: object) => () =>
        consumers.add(script.name, { ...config, ...more }).then(() => script.consumer('one'));
      await script.note('none', () => script.consumer('one'));
      await script.note('update of none', () => consumers.update(script.name, 'one', { metadata: {} }));
      await script.note('made', add({}));
      await script.note('made again', add({}));
      await script.note('different', add({ metadata: { holder: 'y' } }));
      await script.note('update', () =>
        consumers
          .update(script.name, 'one', { metadata: { holder: 'z', more: 'w' } })
          .then(() => script.consumer('one')),
      );
      await script.note('filter of others', () =>
        consumers
          .add(script.name, { durable_name: 'two', ...explicit, filter_subject: 'elsewhere.x' })
          .then(() => script.consumer('two')),
      );
      await script.note('list', () =>
        consumers
          .list(script.name)
          .next()
          .then((found) => found.map(({ name }) => name)),
      );
      await script.note('pull of none', () => script.pull('nobody', 1));
      const pull = script.pull('one', 1, { expires: nanos(3_000) });
      await script.wait(200);
      await script.note('delete', () => consumers.delete(script.name, 'one'));
      await script.note('deleted under a pull', () => pull);
      await script.note('delete again', () => consumers.delete(script.name, 'one'));
    },
  },
  {
    title: 'acknowledgements of each message',
    async run(script) {
      await stream(script);
      await fill(script, 10);
      const wait = { ack_wait: nanos(2_000), max_ack_pending: 4 };
      await script.manager.consumers.add(script.name, { durable_name: 'one', ...explicit, ...wait });
      await script.note('pull', () => script.pull('one', 3));
      await script.note('info', () => script.consumer('one'));
      await script.note('ack 2', () => script.say('one', 2, '+ACK'));
      await script.note('info', () => script.consumer('one'));
      await script.note('ack 1', () => script.say('one', 1, '+ACK'));
      await script.note('info', () => script.consumer('one'));
      await script.note('full', () => script.pull('one', 5));
      await script.note('info', () => script.consumer('one'));
      await script.wait(2_200);
      await script.note('again', () => script.pull('one', 2));
      await script.note('info', () => script.consumer('one'));
      await script.note('term', () => script.say('one', 3, '+TERM'));
      await script.note('later', () => script.say('one', 4, '-NAK {"delay": 100000000}'));
      await script.note('now', () => script.say('one', 5, '-NAK'));
      await script.wait(250);
      await script.note('back', () => script.pull('one', 2));
      await script.note('info', () => script.consumer('one'));
    },
  },
  {
    title: 'acknowledgements of all before',
    async run(script) {
      await stream(script);
      await fill(script, 10, ['a', 'b', 'a']);
      const config = { ack_policy: AckPolicy.All, ack_wait: nanos(24 * 3_600_000), max_deliver: -1 };
      await script.manager.consumers.add(script.name, {
        durable_name: 'one',
        ...config,
        max_ack_pending: 1_000_000,
        filter_subject: script.subject('a'),
      });
      await script.note('pull', () => script.pull('one', 4));
      await script.note('info', () => script.consumer('one'));
      await script.note('ack', () => script.say('one', 3, '+ACK'));
      await script.note('info', () => script.consumer('one'));
      await script.note('older', () => script.say('one', 1, '+ACK'));
      await script.note('info', () => script.consumer('one'));
      await script.note('deleted', () => script.manager.streams.deleteMessage(script.name, 4));
      await script.wait(50);
      await script.note('info', () => script.consumer('one'));
      await script.note('rest', () => script.pull('one', 9));
      await script.note('last', () => script.say('one', 10, '+ACK'));
      await script.note('info', () => script.consumer('one'));
      await script.note('purge', () => script.manager.streams.purge(script.name));
      await script.note('info', () => script.consumer('one'));
    },
  },
  {
    title: 'pulls wait, beat and end',
    only: 'old',
    async run(script) {
      await stream(script);
      const { consumers } = script.manager;
      await consumers.add(script.name, { durable_name: 'one', ack_policy: AckPolicy.None });
      await script.note('nothing', () => script.pull('one', 5));
      await script.note('beats', () =>
        script.pull('one', 5, { expires: nanos(700), idle_heartbeat: nanos(300) }),
      );
      await script.note('too slow a beat', () => script.pull('one', 5, { idle_heartbeat: nanos(200) }));
      const late = script.pull('one', 2, { expires: nanos(5_000) });
      await script.wait(200);
      await fill(script, 2);
      await script.note('late', () => late);
      const two = [
        script.pull('one', 2, { expires: nanos(5_000) }),
        script.pull('one', 2, { expires: nanos(5_000) }),
      ];
      await script.wait(200);
      await fill(script, 4);
      await script.note('in turn', () => Promise.all(two));
      await script.note('info', () => script.consumer('one'));
      await script.note('ephemeral', async () => {
        const { name, config } = await consumers.add(script.name, {
          ack_policy: AckPolicy.None,
          mem_storage: true,
          num_replicas: 1,
          inactive_threshold: nanos(600),
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: 2,
        });
        const { name: _name, ...others } = config;
        const told = await script.pull(name!, 3);
        await script.wait(1_800);
        const left = await consumers.list(script.name).next();
        return [Object.entries(others).sort(), told, left.length];
      });
    },
  },
  {
    title: 'buckets as leases use them',
    async run(script) {
      const bucket = await script.bucket();
      const entry = (found: Awaited<ReturnType<typeof bucket.get>>) =>
        found && {
          key: found.key,
          revision: found.revision,
          operation: found.operation,
          text: found.string(),
        };
      const get = () => bucket.get('lease').then(entry);
      await script.note('none', get);
      await script.note('create', () => bucket.create('lease', 'one'));
      await script.note('create again', () => bucket.create('lease', 'two'));
      await script.note('get', get);
      await script.note('update', () => bucket.update('lease', 'three', 1));
      await script.note('stale', () => bucket.update('lease', 'four', 1));
      await script.note('race', async () => {
        const ends = await Promise.allSettled(['x', 'y', 'z'].map((text) => bucket.update('lease', text, 2)));
        return ends.map(({ status }) => status).sort();
      });
      await script.note('get', get);
      await script.note('delete stale', () => bucket.delete('lease', { previousSeq: 1 }));
      await script.note('delete', () => bucket.delete('lease', { previousSeq: 3 }));
      await script.note('deleted', get);
      await script.note('create behind a delete', () => bucket.create('lease', 'five'));
      await script.note('get', get);
      await script.note('purge', () => bucket.purge('lease'));
      await script.note('purged', get);
      await script.note('as a stream', () =>
        script.manager.streams
          .getMessage(`KV_${script.name}`, { last_by_subj: `$KV.${script.name}.lease` })
          .then(({ seq, header, data }) => [seq, header.get('KV-Operation'), data.length]),
      );
    },
  },
  {
    title: 'a bucket forgets',
    only: 'old',
    async run(script) {
      const bucket = await script.bucket(1_500);
      await script.note('create', () => bucket.create('lease', 'one'));
      await script.note('config', () =>
        script.manager.streams.info(`KV_${script.name}`).then(({ config }) => Object.entries(config).sort()),
      );
      await script.wait(4_000);
      await script.note('run out', () => bucket.get('lease'));
      await script.note('update', () => bucket.update('lease', 'two', 1));
      await script.note('create', () => bucket.create('lease', 'two'));
    },
  },
  {
    title: 'requests between processes',
    async run(script, server) {
      const { connection } = script;
      const other = await server.connect();
      const ask = (subject: string) => () =>
        connection
          .request(script.subject(subject), 'x', { timeout: 1_500 })
          .then((answer) => answer.string());
      await script.note('nobody', ask('rpc.a'));
      const heard: string[] = [];
      for (const [place, one] of [connection, other].entries()) {
        one.subscribe(script.subject('rpc.*'), {
          queue: 'group',
          callback: (_error, message) => {
            heard.push(message.subject);
            if (message.subject.endsWith('a')) message.respond(`answer of ${message.subject}`);
            void place;
          },
        });
        await one.flush();
      }
      await script.note('somebody', ask('rpc.a'));
      await script.note('no answer', ask('rpc.b'));
      const all: string[] = [];
      const listener = other.subscribe(script.subject('told.>'), {
        callback: (_e, m) => all.push(m.subject),
      });
      await other.flush();
      for (const end of ['told.a', 'told.b.c', 'told', 'else']) connection.publish(script.subject(end));
      await connection.flush();
      await other.flush();
      await script.wait(50);
      listener.unsubscribe();
      await other.flush();
      connection.publish(script.subject('told.d'));
      await connection.flush();
      await other.flush();
      await script.note('heard', async () => [heard, all]);
      await other.close();
      await script.note('closed', () => other.request('x', '').then(() => 'answered'));
    },
  },
];

/** Scripts in which the server is restarted: each has its own server. */
export const restarts: Played[] = [
  {
    title: 'what was acknowledged is there behind a crash',
    async run(script, server) {
      const { consumers } = script.manager;
      await stream(script);
      await stream(script, { name: `${script.name}-m`, subjects: ['memory.>'], storage: 'memory' });
      for (let n = 0; n < 5; n++) await script.publish('a', `text ${n}`, { msgID: `id ${n}` });
      await consumers.add(script.name, { durable_name: 'all', ack_policy: AckPolicy.All });
      await consumers.add(script.name, { durable_name: 'each', ...explicit, ack_wait: nanos(1_500) });
      await consumers.add(script.name, {
        name: 'short',
        ack_policy: AckPolicy.None,
        mem_storage: true,
        inactive_threshold: nanos(60_000),
      });
      await script.note('all', () => script.pull('all', 3));
      await script.note('each', () => script.pull('each', 3));
      await script.say('all', 2, '+ACK');
      await script.say('each', 2, '+ACK');
      await script.note('info', () => script.consumer('all'));
      await script.wait(2_500); // what the server knows of consumers reaches its disk
      await server.restart();
      await script.note('stream', () => script.stream());
      await script.note('memory', () => script.manager.streams.info(`${script.name}-m`));
      await script.note('list', () =>
        consumers
          .list(script.name)
          .next()
          .then((found) => found.map(({ name }) => name)),
      );
      await script.note('same id', () => script.publish('a', 'text 1', { msgID: 'id 1' }));
      await script.note('expected', () => script.publish('a', 'new', { expect: { lastSubjectSequence: 5 } }));
      await script.note('info all', () => script.consumer('all'));
      await script.note('info each', () => script.consumer('each'));
      await script.note('all', () => script.pull('all', 3));
      await script.note('short', () => script.pull('short', 1));
      await script.wait(2_000);
      await script.note('each', () => script.pull('each', 5));
      await script.note('info each', () => script.consumer('each'));
    },
  },
  {
    title: 'a client hears of the loss and comes back',
    async run(script, server) {
      const { connection } = script;
      await stream(script);
      const events: string[] = [];
      void (async () => {
        for await (const { type } of connection.status())
          if (['disconnect', 'reconnect'].includes(type)) events.push(type);
      })();
      const heard: string[] = [];
      connection.subscribe(script.subject('told.*'), { callback: (_e, m) => heard.push(m.string()) });
      await connection.flush();
      const asked = connection.request(script.subject('slow'), 'x', { timeout: 30_000 }).then(
        () => 'answered',
        (error: Error) => error.message,
      );
      void asked;
      await script.publish('told.a', 'before');
      await server.restart();
      await script.publish('told.a', 'after');
      await script.wait(50);
      await script.note('events', async () => events);
      await script.note('heard', async () => heard);
    },
  },
];

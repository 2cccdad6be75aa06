import t from 'tap';
import { eventually } from '../support/eventually.js';
import { startNgircd, withoutNgircd } from '../support/ngircd.js';
import { drafts, Stage } from './stage.js';

t.test(
  'QUEUE-01 QUEUE-04 QUEUE-11 on a server that confirms nothing by itself a fence does',
  { skip: withoutNgircd, timeout: 240_000 },
  async (t) => {
    const stage = await Stage.open(t, 6, await startNgircd(t));
    const refusing = stage.channels[5]!;
    await stage.witness.ask(`MODE ${refusing} +m`);
    const worker = await stage.start({ retryMs: 500 });
    await stage.publish({ id: 'refused', channels: [stage.channels[0]!, refusing] });
    await stage.publish(...drafts('e', 30, stage.channels.slice(0, 5)));
    await stage.settled();
    t.equal(worker.irc.status().confirmation, 'fence');
    t.match(stage.outcomes.of('event.dead_lettered'), [
      { event_id: 'refused', delivered: [stage.channels[0]], undelivered: [refusing], last_error: /^404/ },
    ]);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
    await stage.judge(t, { unless: (_id, channel) => channel === refusing });
  },
);

import t from 'tap';
import { market, marketSubject } from '../../streams/events/index.js';
import { keysStage, operator } from '../keys/stage.js';
import { startPostgres } from '../support/sql.js';

t.test('OPERATE-27 a range of received events has any time at its ends', async (t) => {
  for (const [store, environment] of [
    ['PGlite', {}],
    ['PostgreSQL', { DATABASE_URL: (await startPostgres(t)).url }],
  ] as [string, Record<string, string>][]) {
    const { ask, log } = await keysStage(t, environment);
    const data = {
      event_id: 'first',
      event_type: 'task.published',
      source: 'test',
      payload: {},
      target_channels: ['#lobby'],
      formatted_message: 'first',
    };
    await log.append(market, marketSubject('first'), { type: 'event.received', data }, { by: 'test' });
    const between = async (from: string, to: string) => {
      const query = new URLSearchParams({ from, to });
      const { status, body } = await ask('GET', `/ops/events?${query}`, undefined, operator);
      return { status, ids: body.events?.map(({ event_id }: { event_id: string }) => event_id) };
    };
    for (const [from, to, ids] of [
      ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-01:00', ['first']],
      ['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59.999-23:59', ['first']],
      ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', ['first']],
      ['0000-01-01T00:00:00Z', '0000-12-31T23:59:59Z', []],
      ['9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59-01:00', []],
    ] as const)
      t.same(await between(from, to), { status: 200, ids }, `${store}: ${from} to ${to}`);
  }
});

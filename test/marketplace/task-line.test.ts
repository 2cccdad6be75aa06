import t from 'tap';
import { readTask, taskLine } from '../../workers/marketplace/tasks.js';

const line = (fields: object) => taskLine(readTask({ id: 'a1b2c3d4-5678', ...fields })!, (text) => text);

t.test('EM-15 a task in one line', async (t) => {
  t.equal(
    line({ title: 'A photo', status: 'published', bounty_usd: 5, location: 'Lisbon', deadline: 'Friday' }),
    'a1b2c3d4 | A photo | published | $5 | Lisbon | until Friday',
  );
  t.equal(line({ bounty_usdc: 0.001 }), 'a1b2c3d4 | $0.001');
  t.equal(line({ deadline: '\u200b\u2060', title: '\u202e' }), 'a1b2c3d4', 'what shows nothing is left out');
});

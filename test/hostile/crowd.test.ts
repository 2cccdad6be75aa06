import t from 'tap';
import { crowd } from './crowd.js';

// CROWD=<strangers>,<liars> for another size: `npm run crowd` is the long form
const [strangers = 100, liars = 5] = (process.env.CROWD ?? '100,5').split(',').map(Number);

t.test('HOSTILE-01 strangers with liars among them', async (t) => {
  const came = await crowd(t, { strangers, liars });
  const tell = (what: string, about: unknown) => t.comment(`${what}: ${JSON.stringify(about)}`);
  tell('seconds', came.seconds);

  const place = came.ranked.findIndex((nick) => came.liars.includes(nick));
  tell('ratings by liars', came.ratings);
  t.ok(came.ratings.taken >= liars * (liars - 1), 'they praised each other');
  t.ok(came.ranked.length >= strangers, 'strangers are rated');
  t.same(came.shown, came.ranked.slice(0, 50), 'the leaderboard is what the facts say');
  t.ok(
    place === -1 || place >= Math.floor(came.ranked.length / 2),
    `the best liar has place ${place + 1} of ${came.ranked.length}`,
  );
  t.notOk(
    came.ranked.some((nick) => nick.startsWith('ghost')),
    'no nick that was invented is there',
  );

  tell('votes by liars', came.votes);
  t.ok(came.votes.taken >= liars * 3, 'patient liars may vote');
  t.same(came.accusations, [], 'no accusation is validated by liars alone');
  t.same(came.honest.length, 1, 'what strangers confirm is');

  t.same(came.leaks, [], `nothing private in ${came.reads} answers`);

  tell('incidents', came.incidents);
  t.ok((came.incidents.quiet ?? 0) >= liars, 'attackers were muted');
  t.same(came.blamed, [], 'nothing was done about a stranger');
  t.same(came.silenced, [], 'all strangers can speak');
});

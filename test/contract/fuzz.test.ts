import t from 'tap';
import { fuzz } from './fuzz/fuzz.js';

const { FUZZ_SEED = String(Date.now() % 1_000_000), FUZZ_REQUESTS = '2000' } = process.env;

t.test(`OAS-09 requests made by seed ${FUZZ_SEED}`, async (t) => {
  const { violations, statuses, operations } = await fuzz(t, {
    seed: Number(FUZZ_SEED),
    requests: Number(FUZZ_REQUESTS),
  });
  t.same(violations, [], `repeat it with FUZZ_SEED=${FUZZ_SEED} FUZZ_REQUESTS=${FUZZ_REQUESTS} npm run fuzz`);
  const counts = (some: Record<string, number>) => Object.values(some).reduce((sum, one) => sum + one, 0);
  t.equal(counts(statuses), Number(FUZZ_REQUESTS), 'each was answered');
  t.ok(Object.keys(operations).length > 100, 'nearly every operation was asked');
  const isSuccess = (answers: Record<string, number>) =>
    Object.keys(answers).some((status) => /^2/.test(status));
  t.ok(Object.values(operations).filter(isSuccess).length > 70, 'most of them let some through');
});

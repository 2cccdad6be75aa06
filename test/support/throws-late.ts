import t from 'tap';

// Run by a test of its own, as a test file with errors that nobody catches.

t.test('throws after its end', async (t) => {
  setTimeout(() => {
    throw new Error('thrown late');
  }, 20);
  t.pass('fine so far');
});

t.test('rejects aside', async (t) => {
  void Promise.reject(new Error('rejected aside'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.pass('fine otherwise');
});

t.test('comes after that', async (t) => {
  t.pass('fine');
});

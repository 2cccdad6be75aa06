import t from 'tap';
import { ConfigError, readConfig, unknownSettings } from '../../src/config/config.js';
import { startProblems } from '../../src/config/warnings.js';

const model = {
  id: 'small',
  provider: 'p',
  base_url: 'https://api.example/v1',
  price_in: 0.15,
  price_out: 0.6,
};

t.test('BRAIN-19 a file of models', async (t) => {
  const dir = t.testdir({
    'good.json': JSON.stringify([
      { ...model, model: 'small-2026', api_key_env: 'PROVIDER_KEY', capabilities: ['chat', 'vision'] },
      { ...model, id: 'home/large', base_url: 'http://127.0.0.1:11434/v1', stream: false, synthesizer: true },
    ]),
  });
  const MODELS = `${dir}/good.json`;
  const [small, large] = readConfig({ MODELS, PROVIDER_KEY: 'secret' }).MODELS;
  t.match(small, {
    id: 'small',
    name: 'small-2026',
    apiKey: 'secret',
    prices: { in: 0.15, out: 0.6 },
    stream: true,
  });
  t.match(large, {
    id: 'home/large',
    name: 'home/large',
    apiKey: undefined,
    stream: false,
    synthesizer: true,
  });
  t.same(readConfig({}).MODELS, []);
  const problems = (env: Record<string, string>) => startProblems(readConfig({ MODELS, ...env }));
  t.same(problems({}), ['MODELS: model small needs its key in PROVIDER_KEY, which is not set']);
  t.same(problems({ PROVIDER_KEY: 'secret' }), []);
  t.same(problems({ ROLES: 'api,services' }), [], 'who asks no model needs no key');
  t.same(unknownSettings({ MODELS }, 'PROVIDER_KEY=secret\n'), [], 'the name of a key is no mistake');
  t.same(unknownSettings({ MODELS: `${dir}/none` }, 'OTHER=x\n'), ['OTHER in .env is not a setting']);
});

t.test('BRAIN-19 what is wrong with one', async (t) => {
  const cases: [unknown, RegExp][] = [
    [{}, /expected array/],
    [[model, model], /has an id twice/],
    [
      [
        { ...model, synthesizer: true },
        { ...model, id: 'b', synthesizer: true },
      ],
      /more than one synthesizer/,
    ],
    [[{ ...model, id: 'a b' }], /model 1: id must be 1 to 64/],
    [[model, { ...model, id: 'b', price_in: -1 }], /model 2: price_in/],
    [[{ ...model, price_out: undefined }], /model 1: price_out/],
    [[{ ...model, base_url: 'ftp://x' }], /model 1: base_url must be an address/],
    [[{ ...model, api_key: 'hunter2' }], /model 1: .*api_key/],
    [[{ ...model, api_key_env: 'A KEY' }], /api_key_env must be the name/],
  ];
  for (const [content, message] of cases) {
    const dir = t.testdir({ 'models.json': JSON.stringify(content) });
    const read = () => readConfig({ MODELS: `${dir}/models.json` });
    t.throws(read, { name: 'ConfigError', message });
    t.throws(read, ConfigError);
  }
  const dir = t.testdir({ 'models.json': '{' });
  t.throws(() => readConfig({ MODELS: `${dir}/models.json` }), { message: /is not JSON/ });
  t.throws(() => readConfig({ MODELS: `${dir}/none.json` }), { message: /cannot be read \(ENOENT\)/ });
});

t.test('BRAIN-12 amounts of money', async (t) => {
  t.equal(readConfig({ DELIBERATION_MAX_COST_USD: '0.25' }).DELIBERATION_MAX_COST_USD, 0.25);
  for (const text of ['-1', '1,5', 'x', '1e3', '.5'])
    t.throws(() => readConfig({ DELIBERATION_MAX_COST_USD: text }), {
      message: /must be an amount of US dollars/,
    });
});

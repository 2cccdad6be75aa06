import pino from 'pino';
import t from 'tap';
import { readModelsFile } from '../../src/operations/deliberation/models-file.js';
import {
  type DeliberationData,
  type DeliberationFact,
  deliberation,
  queryDecider,
  querySubject,
} from '../../streams/deliberation/index.js';
import { Deliberate } from '../../workers/deliberation/index.js';
import { eventually } from '../support/eventually.js';
import { plainly, say, startProvider } from '../support/model-provider.js';
import { startNats } from '../support/nats.js';
import { startService } from '../support/service.js';
import { history } from './history.js';
import { apiKeys, callsOf, deliberationStage, modelsFile, openLog } from './stage.js';

const settings = { API_KEYS: apiKeys, ROLES: 'api,projections,workers' };

t.test('BRAIN-14 kill -9 in the middle: what was answered is not paid for again', async (t) => {
  const nats = await startNats(t, { sync: 'always' });
  const provider = await startProvider(t);
  const service = await startService(
    t,
    { nats, ircUrl: 'irc://127.0.0.1:1' },
    {
      ...settings,
      MODELS: await modelsFile(t, provider.url),
    },
  );
  const { ask, create, result } = callsOf(service.url);
  const responses = async (id: string) => (await ask('GET', `/multibrain/query/${id}/responses`)).body;
  // the second call of `three` is under way when the service dies
  provider.answer = (call, response) => {
    if (call.model === 'three' && provider.of('three').length === 2) return;
    plainly(call, response);
  };
  const id = await create({ strategy: 'debate' });
  await eventually(
    'five answers',
    async () => (await responses(id)).length === 5 && provider.of('three').length === 2,
  );
  await service.kill('SIGKILL');
  await service.start();
  t.match(await result(id), { status: 'completed', consensus: 'agreed' });

  const asked = provider.seen.map(({ model, isSynthesis }) => (isSynthesis ? 'synthesis' : model)).sort();
  const expected = [
    'one',
    'one',
    'one',
    'synthesis',
    'three',
    'three',
    'three',
    'three',
    'two',
    'two',
    'two',
  ];
  t.same(asked, expected, 'only the answer that was lost was asked for again');
  t.equal((await responses(id)).length, 9);
  const { body: costs } = await ask('GET', `/multibrain/query/${id}/costs`);
  const [one, three] = costs.by_model;
  t.match(three, { model: 'three', calls: 4 });
  t.ok(three.estimated_usd > 0, 'the lost one is counted');
  t.equal(one.estimated_usd, 0);
});

t.test('BRAIN-14 a graceful stop takes the answers under way along', async (t) => {
  const nats = await startNats(t);
  const provider = await startProvider(t);
  const models = await modelsFile(t, provider.url);
  const environment = { ...settings, MODELS: models };
  const service = await startService(t, { nats, ircUrl: 'irc://127.0.0.1:1' }, environment);
  const { create, result, ask } = callsOf(service.url);
  let answer = () => {};
  provider.answer = (call, response) => {
    if (call.model === 'two' && provider.of('two').length === 1) answer = () => plainly(call, response);
    else plainly(call, response);
  };
  const id = await create();
  await provider.untilSeen(3);
  const stopped = service.kill('SIGTERM');
  await eventually(
    'the service to stop',
    () => service.log().includes('SIGTERM') || service.log().includes('stop'),
  );
  answer();
  await stopped;
  await service.start();
  t.match(await result(id), { status: 'completed' });
  t.equal(provider.of('two').length, 1, 'asked once');
  t.equal((await ask('GET', `/multibrain/query/${id}/costs`)).body.estimated_usd, 0);
});

t.test('BRAIN-21 the log is away when the answers come', async (t) => {
  const { nats, provider, create, result, ask } = await deliberationStage(t);
  const waiting: (() => void)[] = [];
  provider.answer = (call, response) => {
    if (provider.seen.length > 3) return plainly(call, response);
    waiting.push(() => say(call, response, { content: `${call.model} says so` }));
  };
  const id = await create();
  await provider.untilSeen(3);
  await nats.kill();
  for (const answer of waiting) answer();
  await eventually('the answers to be over', () => provider.open === 0);
  await nats.start();
  t.match(await result(id), { status: 'completed' });
  const asked = provider.seen.filter(({ isSynthesis }) => !isSynthesis);
  t.equal(asked.length, 3, 'nobody was asked again');
  t.equal((await ask('GET', `/multibrain/query/${id}/costs`)).body.estimated_usd, 0);
});

t.test('BRAIN-14 two workers at once: one gives way, and every call is on record', async (t) => {
  const nats = await startNats(t);
  const provider = await startProvider(t);
  const models = readModelsFile(await modelsFile(t, provider.url));
  const worker = async () => {
    const log = await openLog(t, nats.url);
    const one = new Deliberate({ log, models, callTimeoutMs: 30_000, logger: pino({ level: 'silent' }) });
    t.teardown(() => one.stop());
    one.start();
    return log;
  };
  const waiting: (() => void)[] = [];
  provider.answer = (call, response) => {
    if (call.isSynthesis) plainly(call, response);
    else waiting.push(() => plainly(call, response));
  };
  const log = await worker();
  const creation = history(1)[0]!.data as DeliberationData<'query.created'>;
  const { query_id: id, rounds: _, ...query } = { ...creation, strategy: 'consensus' as const };
  const create = { is: 'create' as const, id, ...query, ceiling_nano_usd: 1e9 };
  await log.handle(deliberation, queryDecider, create, { by: 'test' });
  const count = creation.models.length;
  await provider.untilSeen(count);
  await worker();
  await provider.untilSeen(2 * count);
  for (const answer of waiting) answer();
  const facts = await eventually('the query to end', async () => {
    const found: DeliberationFact[] = [];
    for await (const fact of log.subject(deliberation, querySubject(id))) found.push(fact);
    return found.some(({ type }) => type === 'query.completed') && found;
  });
  const of = (type: DeliberationFact['type']) => facts.filter((fact) => fact.type === type).length;
  t.equal(of('model.asked'), provider.seen.length);
  t.equal(of('response.received'), count + 1, 'one answer each, and the synthesis');
  t.equal(of('response.failed'), 0);
});

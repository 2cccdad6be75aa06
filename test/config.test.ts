import { readFileSync } from 'node:fs';
import t from 'tap';
import { ConfigError, environment, readConfig, roles } from '../src/config.js';

function problemsOf(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

t.test('an empty environment is a working configuration', async (t) => {
  t.match(readConfig({}), {
    HOST: '127.0.0.1',
    PORT: 8100,
    NATS_URL: '',
    ROLES: [...roles],
    EM_WEBHOOK_SECRET: [],
  });
});

t.test('values are read in the form in which they are used', async (t) => {
  const config = readConfig({
    PORT: '0',
    NATS_URL: 'nats://a:4222,nats://b:4222',
    DATABASE_URL: 'postgresql://me:secret@db/relay',
    IRC_URL: 'ircs://irc.example:6697',
    EM_WEBHOOK_SECRET: 'old , new,',
    EM_WEBHOOK_SCHEMES: 'body,timestamped',
    API_KEYS: 'ann:k1,bob:k:2',
    EVENT_TTL_MS: '1000',
  });
  t.equal(config.PORT, 0);
  t.equal(config.EVENT_TTL_MS, 1_000);
  t.same(config.EM_WEBHOOK_SECRET, ['old', 'new']);
  t.same(config.EM_WEBHOOK_SCHEMES, ['body', 'timestamped']);
  t.same(config.API_KEYS, [
    { name: 'ann', key: 'k1' },
    { name: 'bob', key: 'k:2' },
  ]);
});

t.test('roles', async (t) => {
  t.same(readConfig({ ROLES: 'api' }).ROLES, ['api']);
  t.same(readConfig({ ROLES: ' irc , workers ' }).ROLES, ['irc', 'workers']);
  t.same(readConfig({ ROLES: 'api,all' }).ROLES, [...roles]);
  t.match(problemsOf({ ROLES: 'api,bridge' }), /ROLES: unknown role bridge: use all, or some of api, /);
});

t.test('every variable that is wrong is named, in one go', async (t) => {
  const wrong = {
    PORT: 'eighty',
    PUBLIC_URL: 'relay.example',
    NATS_REPLICAS: '6',
    STREAMS_MAX_BYTES: '10',
    DATABASE_URL: 'mysql://db/relay',
    IRC_URL: '127.0.0.1:6667',
    IRC_EMBEDDED_PORT: '70000',
    EM_NICK: 'n'.repeat(31),
    ROLES: 'none',
    EM_WEBHOOK_SCHEMES: 'header',
    EVENT_TTL_MS: '0',
    EVENT_RETRY_MS: '1.5',
    EVENT_MAX_RETRIES: '-1',
    API_KEYS: 'nobody',
    BRIDGE_URL: 'ftp://bridge',
    PROXY_TIMEOUT: 'soon',
    LOG_LEVEL: 'loud',
    RATE_LIMIT: '-5',
  };
  const problems = problemsOf(wrong);
  const named = [...problems.matchAll(/^ {2}([A-Z_]+): \S/gm)].map((match) => match[1]);
  t.same(named.sort(), Object.keys(wrong).sort());
});

t.test('no secret is in what is said about a problem', async (t) => {
  const secret = 'hunter2hunter2hunter2';
  const problems = problemsOf({
    API_KEYS: `ok:${secret},${secret},:${secret}`,
    DATABASE_URL: `mysql://me:${secret}@db`,
    IRC_URL: `http://me:${secret}@irc`,
    BRIDGE_URL: `ftp://me:${secret}@bridge`,
    EM_WEBHOOK_SECRET: secret,
    IRC_OPER_PASSWORD: secret,
    PORT: 'x',
  });
  t.match(problems, /API_KEYS: pair 2 is not name:key\n {2}API_KEYS: pair 3 is not name:key/);
  t.notMatch(problems, secret);
});

t.test('.env.example has every variable with its default', async (t) => {
  const lines = readFileSync('.env.example', 'utf8').split('\n');
  const documented = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const [, name, value] = /^#?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    t.notOk(documented.has(name), `${name} stands there once`);
    documented.set(name, value!);
    t.match(
      lines.slice(0, index).findLast((before) => !/^#[A-Z][A-Z0-9_]*=/.test(before)) ?? '',
      /^# \S/,
      `${name} is explained`,
    );
  }
  t.same([...documented.keys()].sort(), Object.keys(environment.shape).sort());

  const defaults = environment.parse({});
  for (const [name, value] of documented) {
    const read = environment.parse(value === '' ? {} : { [name]: value });
    t.same(read[name as keyof typeof read], defaults[name as keyof typeof defaults], name);
  }
});

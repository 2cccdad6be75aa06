import { readFileSync } from 'node:fs';
import t from 'tap';
import { ConfigError, environment, readConfig, roles, unknownSettings } from '../src/config/config.js';
import { bootWarnings, settingRisks } from '../src/config/warnings.js';

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

t.test('START-03 the public address follows the port unless it is set', async (t) => {
  t.equal(readConfig({}).PUBLIC_URL, 'http://localhost:8100');
  t.equal(readConfig({ PORT: '9000' }).PUBLIC_URL, 'http://localhost:9000');
  t.equal(readConfig({ PORT: '9000', PUBLIC_URL: '' }).PUBLIC_URL, 'http://localhost:9000');
  t.equal(readConfig({ PORT: '9000', PUBLIC_URL: 'https://a.example' }).PUBLIC_URL, 'https://a.example');
});

t.test('proxies in front are named, or counted', async (t) => {
  t.same(readConfig({}).TRUST_PROXY, []);
  t.equal(readConfig({ TRUST_PROXY: ' 2 ' }).TRUST_PROXY, 2);
  const networks = ['127.0.0.1', '::1', '10.0.0.0/8', 'fd00::/8'];
  t.same(readConfig({ TRUST_PROXY: networks.join(', ') }).TRUST_PROXY, networks);
  for (const wrong of ['true', 'nginx', '10.0.0.0/33', '10.0.0.0/', '1,2', '10', '-1', '::/129'])
    t.match(problemsOf({ TRUST_PROXY: wrong }), /TRUST_PROXY: must be addresses and networks/, wrong);
  const hosts = ['relay:8100', 'relay.internal', '[::1]:80'];
  t.same(readConfig({ ALLOWED_HOSTS: hosts.join(',') }).ALLOWED_HOSTS, hosts);
  for (const wrong of ['https://relay', 'relay/mcp', 'a b', 'me@relay'])
    t.match(problemsOf({ ALLOWED_HOSTS: wrong }), /ALLOWED_HOSTS: must be hosts/, wrong);
});

t.test('START-03 copies need a cluster', async (t) => {
  t.throws(() => readConfig({ NATS_REPLICAS: '3' }), /NATS_REPLICAS: 3 copies need a cluster: set NATS_URL/);
  t.equal(readConfig({ NATS_REPLICAS: '3', NATS_URL: 'nats://a:4222' }).NATS_REPLICAS, 3);
});

t.test('START-03 settings that do not go together are refused, all at once', async (t) => {
  const own = {
    IRC_EMBEDDED_PORT: '8100',
    EM_NICK: 'Relay[x]',
    BRIDGE_NICK: 'relay{X}',
    MRSERV_NICK: 'nickserv',
  };
  t.equal(
    problemsOf(own),
    [
      'The configuration cannot be used:',
      '  IRC_EMBEDDED_PORT: 8100 is PORT, where the HTTP API is: give the IRC server another one',
      '  EM_NICK: Relay[x] is the nick of BRIDGE_NICK: give the bot another one',
      '  MRSERV_NICK: nickserv is the nick of a service of the network: give the bot another one',
    ].join('\n'),
  );
  t.equal(readConfig({ PORT: '0', IRC_EMBEDDED_PORT: '0' }).PORT, 0, 'any free ports');
  const elsewhere = { PORT: '6667', IRC_URL: 'irc://irc.example:6667' };
  t.equal(readConfig(elsewhere).PORT, 6667, 'the IRC server is elsewhere');
});

t.test('roles', async (t) => {
  t.same(readConfig({ ROLES: 'api' }).ROLES, ['api']);
  t.same(readConfig({ ROLES: ' irc , workers ' }).ROLES, ['irc', 'workers']);
  t.same(readConfig({ ROLES: 'api,all' }).ROLES, [...roles]);
  t.match(
    problemsOf({ ROLES: 'api,bridge' }),
    /ROLES: must be one or more of all, api, .*, got 'api,bridge'/,
  );
  t.match(problemsOf({ ROLES: ',' }), /ROLES: must be one or more of/);
});

t.test('START-03 roles that read what nobody folds are warned of', async (t) => {
  const urls = [
    'BRIDGE',
    'TURNSTILE',
    'GUARDIAN',
    'MRSERV',
    'CHANNELSERV',
    'SENTINEL',
    'MULTIBRAIN',
    'VERIFICATION',
  ];
  const elsewhere = Object.fromEntries(urls.map((name) => [`${name}_URL`, 'http://inner:8100']));
  const warned = (env: Record<string, string>) =>
    bootWarnings(readConfig({ NATS_URL: 'nats://a:4222', ...env })).some((one) =>
      /folded by nobody/.test(one),
    );
  for (const ROLES of ['api', 'api,services', 'services,irc,workers']) {
    t.ok(warned({ ROLES }), ROLES);
    t.notOk(warned({ ROLES, DATABASE_URL: 'postgresql://db/relay' }), 'it reads what another process folds');
    t.notOk(warned({ ROLES: `${ROLES},projections` }), 'it folds for itself');
  }
  t.notOk(warned({ ROLES: 'api', ...elsewhere }), 'it reads nothing itself');
  t.ok(warned({ ROLES: 'api', ...elsewhere, BRIDGE_URL: '' }));
  for (const ROLES of ['all', 'projections', 'irc,workers,schedule']) t.notOk(warned({ ROLES }), ROLES);
});

t.test('START-03 every variable that is wrong is named, in one go', async (t) => {
  const wrong = {
    PORT: 'eighty',
    PUBLIC_URL: 'relay.example',
    NATS_URL: 'localhost:4222',
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
  for (const [name, value] of Object.entries(wrong)) {
    if (name === 'API_KEYS') continue;
    t.match(
      problems,
      new RegExp(`^  ${name}: must be .*, got '${value}'$`, 'm'),
      `${name}: what it must be, and is`,
    );
  }
  const cases: [string, string, string][] = [
    ['PORT', 'abc', "PORT: must be a whole number from 0 to 65535, got 'abc'"],
    ['PORT', '0x50', "PORT: must be a whole number from 0 to 65535, got '0x50'"],
    ['EVENT_TTL_MS', '1h', "EVENT_TTL_MS: must be a whole number from 1 on, got '1h'"],
    ['IRC_URL', 'irc://', "IRC_URL: must be an address like ircs://host:6697, got 'irc://'"],
    [
      'NATS_URL',
      'nats://a:4222;nats://b:4222',
      "NATS_URL: must be addresses like nats://host:4222, with commas between them, got 'nats://a:4222;nats://b:4222'",
    ],
    [
      'LOG_LEVEL',
      'WARN',
      "LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent, got 'WARN'",
    ],
    [
      'EM_NICK',
      '1st',
      "EM_NICK: must be an IRC nick of 1 to 30 characters that does not begin with a digit, got '1st'",
    ],
  ];
  for (const [name, value, message] of cases)
    t.equal(problemsOf({ [name]: value }), `The configuration cannot be used:\n  ${message}`);
});

t.test('START-03 no secret is in what is said about a problem', async (t) => {
  const secret = 'hunter2hunter2hunter2';
  const problems = problemsOf({
    API_KEYS: `ok:${secret},${secret},:${secret}`,
    DATABASE_URL: `mysql://me:${secret}@db`,
    IRC_URL: `http://me:${secret}@irc`,
    BRIDGE_URL: `ftp://me:${secret}@bridge`,
    NATS_URL: `nats://ok:4222,${secret}@other`,
    PUBLIC_URL: `host=db password=${secret}`,
    EM_WEBHOOK_SECRET: secret,
    IRC_OPER_PASSWORD: secret,
    PORT: 'x',
  });
  t.match(
    problems,
    /API_KEYS: must be name:key pairs .* pair 2 has another form\n {2}API_KEYS: .* pair 3 has another form/,
  );
  t.notMatch(problems, secret);
});

t.test('START-03 a .env that cannot be read', async (t) => {
  const before = process.cwd();
  t.teardown(() => process.chdir(before));
  process.chdir(t.testdir({ '.env': {} }));
  t.throws(() => readConfig(), {
    name: 'ConfigError',
    message: /^\.env cannot be read \(EISDIR\): make it a file/,
  });
});

t.test('START-03 a .env that begins with a byte order mark', async (t) => {
  const before = process.cwd();
  t.teardown(() => process.chdir(before));
  process.chdir(
    t.testdir({ '.env': '\uFEFFGEO_INACTIVITY_DAYS=17\nCERT_HOSTS="a.example:1"\nEM_SOURCE=file\n' }),
  );
  for (const name of ['GEO_INACTIVITY_DAYS', 'CERT_HOSTS', 'EM_SOURCE'])
    t.teardown(() => delete process.env[name]);
  process.env.EM_SOURCE = 'environment';
  t.match(readConfig(), { GEO_INACTIVITY_DAYS: 17, CERT_HOSTS: ['a.example:1'], EM_SOURCE: 'environment' });
  t.same(unknownSettings({}), []);
});

t.test('START-04 names that are no settings', async (t) => {
  const warnings = (env: NodeJS.ProcessEnv, file = '') => unknownSettings(env, file);
  t.same(warnings({ EM_WEBHOK_SECRET: 'x' }), [
    'EM_WEBHOK_SECRET is not a setting: did you mean EM_WEBHOOK_SECRET?',
  ]);
  t.same(warnings({ EM_WEBHOOK_SECERT: 'x', DATADIR: 'x', irc_url: 'x' }), [
    'EM_WEBHOOK_SECERT is not a setting: did you mean EM_WEBHOOK_SECRET?',
    'DATADIR is not a setting: did you mean DATA_DIR?',
    'irc_url is not a setting: did you mean IRC_URL?',
  ]);
  const file = 'PORT=1\nEM_NIK=a\nSOMETHING=else\n# OTHER=c\nPOSTGRES_PASSWORD=x\nCOMPOSE_PROJECT_NAME=y\n';
  t.same(warnings({ EM_NIK: 'a', SOMETHING: 'else', PORT: '1' }, file), [
    'EM_NIK in .env is not a setting: did you mean EM_NICK?',
    'SOMETHING in .env is not a setting',
  ]);

  t.same(warnings({ POORT: '1' }, 'POORT=1\nHOSTS=a\n'), [
    'HOSTS in .env is not a setting: did you mean HOST?',
    'POORT in .env is not a setting: did you mean PORT?',
  ]);
  t.same(warnings({ POORT: '1' }), [], 'in the environment it may be one of others');

  const secret = '0123456789'.repeat(4);
  t.same(
    warnings({}, `API_KEYS ops:${secret}\nPORT=1\n`).filter((text) => text.includes(secret)),
    [],
    'a line that is none is not repeated',
  );
  const isBroken = [/not NAME=value/];
  t.match(warnings({}, `API_KEYS ops:${secret}\nPORT=1\n`), isBroken);
  t.match(warnings({}, 'PORT=1\n\njust words'), isBroken);
  t.match(warnings({}, "EM_NICK='a'\nit's a bot\n"), isBroken);
  const fine = [
    '# A comment',
    '',
    ' #another',
    'PORT=1',
    ' EM_NICK = "one',
    'two"',
    "export IRC_URL='a b' # c",
  ];
  t.same(warnings({}, fine.join('\n')), []);
  t.same(warnings({}, fine.join('\r\n')), []);

  const ordinary =
    'PATH HOME USER SHELL PWD OLDPWD LANG LC_ALL TERM TMPDIR EDITOR HOSTNAME HOSTTYPE MACHTYPE SHLVL LOGNAME MAIL ' +
    'NODE_ENV NODE_OPTIONS NODE_PATH npm_config_cache npm_package_name npm_lifecycle_event INIT_CWD NO_COLOR ' +
    'FORCE_COLOR DEBUG CI DISPLAY XDG_RUNTIME_DIR SSH_AUTH_SOCK HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy PGHOST ' +
    'PGPORT PGUSER PGDATABASE REDIS_URL BASE_URL SITE_URL HOSTS PORTS POST COLUMNS LINES INVOCATION_ID ROLE_ARN ' +
    'POSTGRES_PASSWORD KUBERNETES_PORT KUBERNETES_SERVICE_HOST NATS_PORT NATS_PORT_4222_TCP NATS_SERVICE_HOST';
  t.same(warnings(Object.fromEntries(ordinary.split(' ').map((name) => [name, 'x']))), []);
});

t.test('START-18 a webhook secret that nobody has set or makes', async (t) => {
  const warned = (env: NodeJS.ProcessEnv) =>
    bootWarnings(readConfig(env)).filter((text) => text.startsWith('EM_WEBHOOK_SECRET is empty'));
  for (const elsewhere of [
    { IRC_URL: 'irc://irc.example' },
    { NATS_URL: 'nats://a:4222', ROLES: 'api,projections' },
    { DATABASE_URL: 'postgresql://db/relay' },
  ]) {
    t.match(warned(elsewhere), [/no event is accepted/], JSON.stringify(elsewhere));
    t.same(warned({ ...elsewhere, EM_WEBHOOK_SECRET: 's'.repeat(40) }), []);
    t.same(warned({ ...elsewhere, EM_PRODUCERS: `one=${'s'.repeat(40)}` }), []);
    t.same(warned({ ...elsewhere, ROLES: 'projections' }), [], 'events come to another process');
  }
  t.same(warned({}), [], 'one is made');
});

t.test('START-21 events that expire before they have been tried', async (t) => {
  const warned = (env: NodeJS.ProcessEnv) =>
    settingRisks(readConfig(env)).filter(({ what }) => what.startsWith('EVENT_TTL_MS is'));
  t.same(warned({}), []);
  t.same(warned({ EVENT_TTL_MS: '15000' }), []);
  t.match(warned({ EVENT_TTL_MS: '1' }), [{ what: /their 3 tries$/, mend: /^set EVENT_TTL_MS to 15000/ }]);
  t.match(warned({ EVENT_RETRY_MS: '2000000' }), [{ mend: /^set EVENT_TTL_MS to 6000000/ }]);
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

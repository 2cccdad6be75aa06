import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { documents } from '../../scripts/documents.js';
import { commands } from '../../src/cli/commands.js';
import { Program } from '../../src/cli/core/program.js';
import { environmentOf } from '../channels/stage.js';
import { recordingTerminal } from '../cli/terminal.js';
import { modelsFile } from '../deliberation/stage.js';
import { channelsFile, paidChannel, payTo } from '../payments/stage.js';
import { startApp, webhookSecret } from '../support/app.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { sendJson, startMarketplace } from '../support/marketplace.js';
import { startProvider } from '../support/model-provider.js';
import { startNats } from '../support/nats.js';
import { temporaryDirectory } from '../support/sql.js';
import { startNetwork } from '../verification/oembed.js';
import { aimedAt, type Block, blocksOf, shell } from './blocks.js';

const key = 'a-key-of-an-operator-that-is-long-enough';
const files = ['README.md', ...documents('docs')];
const blocks = files.flatMap(blocksOf).filter(({ language }) => language === '');

/** Requests whose answer is another than a good one, because what the example names is not there. */
const otherAnswers: Record<string, RegExp> = {
  'POST /verification/verify': /^400 post_not_found$/,
  'GET /verification/agent/scout': /^404 not_found$/,
  // an agent says it with a key of its own: whoever runs the service has to name the nick
  'POST /irc/channels/lobby/messages': /^400 validation_failed$/,
  'PUT /irc/webhook': /^400 validation_failed$/,
  'GET /irc/listen': /^400 validation_failed$/,
  'POST /payments/access/alpha': /^402 /,
};

/** Their blocks need what the reader did before: `session.test.ts` plays them in order. */
const withTestOfTheirOwn = ['A first session', '2. Read with a wallet', '5. Say who you are', '6. Get a key'];

/** Records each request with its answer, which goes on as usual; other programs of the examples are not run. */
const recording = `
bin/relay() { :; }
curl() {
  local status=0
  command curl -s --max-time 20 -D "$RECORDS/head" -o "$RECORDS/body" -w '%{http_code} %{url_effective}' "$@" >"$RECORDS/line" || status=$?
  node -e '
    const { appendFileSync, readFileSync } = require("node:fs");
    const [dir, ...args] = process.argv.slice(1);
    const read = (name) => { try { return readFileSync(dir + "/" + name, "utf8") } catch { return "" } };
    const [code, url] = read("line").split(" ");
    const given = args.indexOf("-X");
    const method = given >= 0 ? args[given + 1] : args.includes("-d") ? "POST" : args.includes("-sI") ? "HEAD" : "GET";
    appendFileSync(dir + "/requests", JSON.stringify({ method, url, status: Number(code), body: read("body") }) + "\\n");
  ' "$RECORDS" "$@"
  cat "$RECORDS/body"
  return $status
}
`;

interface Asked {
  method: string;
  url: string;
  status: number;
  body: string;
}

async function play(t: Test, block: Block, url: string): Promise<Asked[]> {
  const RECORDS = await temporaryDirectory(t);
  writeFileSync(join(RECORDS, 'secrets.json'), JSON.stringify({ em_webhook_secret: webhookSecret }));
  const text = aimedAt(url, block.text).replaceAll('./data/secrets.json', `${RECORDS}/secrets.json`);
  const { code, err } = await shell(recording + text, { RECORDS, key, KEY: key });
  t.equal(code, 0, `${block.file}, ${block.heading}: ${err}`);
  const lines = readFileSync(join(RECORDS, 'requests'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Asked);
}

function judge(t: Test, file: string, { method, url, status, body }: Asked): void {
  const { pathname } = new URL(url);
  const wanted = otherAnswers[`${method} ${pathname}`] ?? /^2\d\d /;
  const { code = '' } = /^\{/.test(body) && status >= 400 ? (JSON.parse(body) as { code?: string }) : {};
  t.notMatch(body, 'There is nothing at', pathname);
  t.match(`${status} ${code}`, wanted, `${file}: ${method} ${pathname} ${body.slice(0, 300)}`);
}

t.test('README-02 the examples', async (t) => {
  const talking = blocks.filter(
    ({ text, heading }) => /\bcurl /.test(text) && !withTestOfTheirOwn.includes(heading),
  );
  const withKey = talking.filter(({ text }) => /\$\{?key\b/i.test(text));
  const without = talking.filter((block) => !withKey.includes(block));
  t.ok(withKey.length >= 2 && without.length >= 10, 'there are examples');

  await t.test('of those who need no key', async (t) => {
    const [nats, ircd, social] = await Promise.all([startNats(t), startIrcd(t), startNetwork(t)]);
    const facilitator = await startMarketplace(t);
    facilitator.answer = (_, response) =>
      sendJson(response, 200, { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }] });
    const ann = await observe(ircd.port, { nick: 'ann', password: ircd.serverPassword });
    t.teardown(() => ann.stop());
    const app = await startApp(t, {
      ...environmentOf({ nats, ircd }),
      SOCIAL_OEMBED_URL: social.url,
      PAID_CHANNELS: await channelsFile(t, [paidChannel({ name: '#alpha' })]),
      X402_FACILITATOR_URL: facilitator.url,
      X402_PAY_TO: payTo,
    });
    for (const block of without) {
      for (const asked of await play(t, block, app.url)) judge(t, block.file, asked);
    }
  });

  await t.test('of holders of a key', async (t) => {
    const [nats, marketplace, provider] = await Promise.all([
      startNats(t),
      startMarketplace(t),
      startProvider(t),
    ]);
    marketplace.answer = ({ url }, response) =>
      sendJson(response, 200, url.includes('available') ? { tasks: [] } : { id: 'a1b2c3d4' });
    const app = await startApp(t, {
      NATS_URL: nats.url,
      IRC_URL: 'irc://127.0.0.1:1',
      ROLES: 'api,services,projections,workers,schedule',
      API_KEYS: `ops:${key}`,
      EM_URL: marketplace.url,
      MODELS: await modelsFile(t, provider.url),
    });
    for (const block of withKey) {
      for (const asked of await play(t, block, app.url)) judge(t, block.file, asked);
    }
  });
});

t.test('README-02 the commands of the command line', async (t) => {
  const lines = blocks.flatMap(({ file, text }) =>
    text
      .split('\n')
      .flatMap(
        (line) => /(?:bin\/relay|npm run (?:--silent )?relay --) +([^#]+?) *(?:#.*)?$/.exec(line)?.[1] ?? [],
      )
      .map((line) => ({ file, line })),
  );
  t.ok(lines.length > 15, 'there are examples');
  for (const { file, line } of lines) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
    let understood = false;
    const act = async () => {
      understood = true;
    };
    const { terminal } = recordingTerminal();
    await Program.of(commands, { terminal, json: false, act }).parseAsync(words, { from: 'user' });
    t.ok(understood, `${file}: relay ${line}`);
  }
});

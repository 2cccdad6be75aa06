import { createHmac } from 'node:crypto';
import t from 'tap';
import {
  type SignatureScheme,
  signBody,
  signedHeaders,
  verifyWebhook,
} from '../../src/auth/webhook-signature.js';

const secret = 'a'.repeat(64);
const now = new Date('2026-03-01T12:00:00Z');
const body = '{"event_id":"evt-1","event_type":"task.published","source":"em","payload":{"id":"a1"}}';

function check(
  request: { raw?: string; signature?: string; timestamp?: string },
  options: { secrets?: string[]; schemes?: SignatureScheme[] } = {},
) {
  const raw = Buffer.from(request.raw ?? body);
  return verifyWebhook(
    {
      raw,
      signature: 'signature' in request ? request.signature : signBody(secret, raw),
      timestamp: 'timestamp' in request ? request.timestamp : now.toISOString(),
    },
    { secrets: options.secrets ?? [secret], schemes: options.schemes ?? ['body'], now },
  ).fault;
}

t.test('HOOK-01 a signature over the raw body is accepted', async (t) => {
  t.equal(check({}), undefined);
  t.equal(check({ raw: '{ "payload": {},\n "zß": "\\u00e9" }' }), undefined);
});

t.test('HOOK-02 a signature over the re-serialised body is accepted too', async (t) => {
  const spaced = JSON.stringify(JSON.parse(body), null, 2);
  t.equal(check({ raw: spaced, signature: signBody(secret, body) }), undefined);
  t.equal(check({ raw: '{"n":1.0}', signature: signBody(secret, '{"n":1}') }), undefined);
});

t.test('HOOK-03 everything that is not exactly the signature is rejected', async (t) => {
  const right = signBody(secret, body);
  const wrong = [
    right.slice(0, -1),
    `${right}0`,
    right.slice('sha256='.length),
    right.replace('sha256=', 'sha1='),
    right.toUpperCase(),
    `${right}, ${right}`,
    ` ${right}`,
    signBody('b'.repeat(64), body),
    signBody(secret, `${body} `),
    'sha256=',
    'é'.repeat(71),
  ];
  for (const signature of wrong) t.equal(check({ signature }), 'signature_invalid', signature.slice(0, 30));
  t.equal(check({ signature: undefined as never }), 'signature_missing');
  t.equal(check({ signature: '' }), 'signature_missing');
  t.equal(check({ raw: 'not json', signature: signBody(secret, 'other') }), 'signature_invalid');
});

t.test('HOOK-04 the timestamp may be five minutes off, either way, and not more', async (t) => {
  const at = (offsetMs: number) => check({ timestamp: new Date(now.getTime() + offsetMs).toISOString() });
  for (const offset of [0, 299_000, -299_000, 300_000, -300_000])
    t.equal(at(offset), undefined, `${offset} ms`);
  for (const offset of [300_001, -300_001, 301_000, -301_000, 3_600_000]) {
    t.equal(at(offset), 'timestamp_stale', `${offset} ms`);
  }
  t.equal(check({ timestamp: '2026-03-01T13:00:00+01:00' }), undefined, 'with another offset');
});

t.test('HOOK-05 a timestamp that is missing or not ISO 8601 is told apart', async (t) => {
  t.equal(check({ timestamp: undefined as never }), 'timestamp_missing');
  for (const timestamp of [
    'now',
    '1772366400',
    '2026-03-01',
    '2026-13-01T12:00:00Z',
    '2026-03-01 12:00:00Z',
    '',
  ]) {
    t.equal(check({ timestamp }), timestamp === '' ? 'timestamp_missing' : 'timestamp_invalid', timestamp);
  }
});

t.test('HOOK-33 a timestamp without a zone is told apart', async (t) => {
  for (const timestamp of ['2026-03-01T12:00:00', '2026-03-01T12:00', '2026-03-01T12:00:00.123'])
    t.equal(check({ timestamp }), 'timestamp_zone_missing', timestamp);
  for (const timestamp of [
    '2026-03-01T12:00:00 ',
    '2026-03-01T12',
    '2026-13-01T12:00:00',
    '2026-03-01T12:00:00CET',
  ])
    t.equal(check({ timestamp }), 'timestamp_invalid', timestamp);
});

t.test('HOOK-06 the signature is checked before the timestamp', async (t) => {
  t.equal(check({ signature: 'sha256=00', timestamp: undefined as never }), 'signature_invalid');
  t.equal(check({ signature: 'sha256=00', timestamp: 'never' }), 'signature_invalid');
});

t.test('HOOK-07 any of several secrets may have signed', async (t) => {
  const secrets = ['b'.repeat(64), secret];
  t.equal(check({}, { secrets }), undefined);
  t.equal(check({ signature: signBody('b'.repeat(64), body) }, { secrets }), undefined);
  t.equal(check({ signature: signBody('c'.repeat(64), body) }, { secrets }), 'signature_invalid');
});

t.test('HOOK-08 the second scheme is accepted only when it is switched on', async (t) => {
  const seconds = String(now.getTime() / 1000);
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  const both: SignatureScheme[] = ['body', 'timestamped'];
  t.equal(check({ signature, timestamp: seconds }), 'signature_invalid');
  t.equal(check({ signature, timestamp: seconds }, { schemes: both }), undefined);
  t.equal(check({}, { schemes: both }), undefined, 'the first one still works');
  const late = String(now.getTime() / 1000 - 301);
  const lateSignature = createHmac('sha256', secret).update(`${late}.${body}`).digest('hex');
  t.equal(check({ signature: lateSignature, timestamp: late }, { schemes: both }), 'timestamp_stale');
  t.equal(
    check({ signature, timestamp: late }, { schemes: both }),
    'signature_invalid',
    'the timestamp is signed',
  );
});

t.test('HOOK-08 what is signed for a service is taken by it', async (t) => {
  for (const schemes of [['body'], ['timestamped'], ['timestamped', 'body']] as SignatureScheme[][]) {
    const headers = signedHeaders(secret, body, { schemes, now });
    const signed = { signature: headers['x-em-signature'], timestamp: headers['x-em-timestamp'] };
    t.equal(check(signed, { schemes }), undefined, schemes.join());
  }
});

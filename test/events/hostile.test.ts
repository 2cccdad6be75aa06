import t from 'tap';
import { MarketEvent } from '../../streams/events/event.js';
import { type Route, routeEvent } from '../../streams/events/routing.js';
import { cleanText, cutToBytes, isManagedChannel, lineBudget } from '../../streams/irc-grammar.js';

const events = 100_000;
const mask = `${'n'.repeat(30)}!${'u'.repeat(10)}@${'h'.repeat(64)}`;

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const types =
  `task.created task.published task.assigned task.approved task.completed task.rejected task.cancelled
  task.mutual_cancel task.disputed task.expired payment.settled payment.escrow_released rating.created
  reputation.feedback relay.leg_started relay.handoff relay.completed constructor __proto__ x`.split(/\s+/);
types.push('task.created\r\nQUIT', 'x'.repeat(2000));

const fields =
  `id id id task_id title worker_nick worker_wallet publisher_nick bounty_usdc bounty_usd escrow_amount
  category category location location network payment_network tx_hash reason cancellation_reason dispute_case_id
  score comment relay_id relay_id leg_number total_legs total_bounty origin destination from_worker to_worker
  __proto__ constructor toString toJSON`.split(/\s+/);

const pieces = [
  '\r \n \r\n \0 \t : , # | " \\ @ - $ ../ * > a Z 7 %0d%0a \\r\\n abc123 St.Louis physical_presence'.split(
    ' ',
  ),
  [' ', 'PRIVMSG #ops :pwned', '\r\nQUIT :bye\r\n', '\nJOIN #ops\n', 'ab,#ops\r\n', '#ops,0', 'x'.repeat(90)],
  ['\x01DCC SEND x\x01', '\x01ACTION waves\x01', '\x02', '\x0304,05', '\x03', '\x04ff0000', '\x0f', '\x16'],
  ['\x1b[31m', '\x7f', '\x85', '\x9b', '\u202e', '\u2066', '\u2069', '\u200b', '\u200d', '\u200f', '\ufeff'],
  ['\u00ad', '\u2028', '\u2029', '\ufe0f', '\u{e0001}', '\u{e0041}', '\u{e007f}', '\u{e0100}', '\ufffe'],
  ['\ud83d', '\ude00', '\udb40', '\udc41', '\ud800', '\udfff', '\u{1ffff}', '\u212a', '\u0130', '\ufdfa'],
  ['😀', '👨‍👩‍👧‍👦', '🇧🇷', '👍🏽', 'é', 'e\u0301', '\u0301'.repeat(40), '日本', 'नमस्ते', 'São Paulo, BR'],
  ['0x1234567890abcdef1234567890abcdef12345678', `0x${'ab'.repeat(32)}`],
].flat();

type Random = () => number;
const pick = <T>(random: Random, list: T[]): T => list[Math.floor(random() * list.length)]!;

function text(random: Random): string {
  let result = '';
  for (let n = Math.floor(random() * random() * 16); n >= 0; n--) result += pick(random, pieces);
  // About one text in 500 is 64 KB long.
  return random() < 0.002 ? result.repeat(Math.ceil(65_536 / result.length)) : result;
}

const odd: unknown[] = [0, -0, -1.5, 1e21, 1e308, 0.1 + 0.2, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY];

function value(random: Random, depth = 0): unknown {
  const kind = random();
  if (kind < 0.75 || depth > 4) return text(random);
  if (kind < 0.85) return pick(random, odd);
  if (kind < 0.9)
    return pick<unknown>(random, [null, undefined, true, false, '', '7.25', '-3', '1e999', '0x10']);
  if (kind < 0.95) return Array.from({ length: Math.floor(random() * 4) }, () => value(random, depth + 1));
  return payload(random, depth + 1, 3);
}

function payload(random: Random, depth: number, size: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (let n = 0; n < size; n++) {
    const key = random() < 0.95 ? pick(random, fields) : text(random);
    // As JSON.parse does it: an own property, whatever its name.
    const own = { value: value(random, depth), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(result, key, own);
  }
  return result;
}

/** Reads what a server would take from these bytes: each line's command and parameters. */
function readCommands(bytes: Buffer): { command: string; parameters: string[] }[] {
  const commands: { command: string; parameters: string[] }[] = [];
  let start = 0;
  for (let i = 0; i <= bytes.length; i++) {
    // A lenient server ends a line at either character, a careless one at NUL.
    if (i < bytes.length && bytes[i] !== 13 && bytes[i] !== 10 && bytes[i] !== 0) continue;
    const line = bytes.subarray(start, i).toString('utf8');
    start = i + 1;
    if (line === '') continue;
    const trailing = line.indexOf(' :');
    const words = (trailing < 0 ? line : line.slice(0, trailing)).split(' ').filter((word) => word !== '');
    const [command = '', ...parameters] = words;
    commands.push({
      command,
      parameters: trailing < 0 ? parameters : [...parameters, line.slice(trailing + 2)],
    });
  }
  return commands;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const unseen = /[\p{Cc}\p{Cs}\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u;

/** What is wrong with a route and its lines; nothing when they are as they should be. */
function faults({ targetChannels, formattedMessage }: Route): string[] {
  const found: string[] = [];
  if (formattedMessage.trim() === '') found.push('empty line');
  if (unseen.test(formattedMessage)) found.push('character that is not seen');
  if (cleanText(formattedMessage) !== formattedMessage) found.push('line that cleaning would change');
  if (formattedMessage.length > 4000) found.push('line of unbounded size');
  if (targetChannels.length === 0) found.push('no channel');
  if (new Set(targetChannels).size !== targetChannels.length) found.push('channel named twice');
  for (const channel of targetChannels) {
    if (!isManagedChannel(channel)) found.push(`channel ${channel}`);
    const shown = cutToBytes(formattedMessage, lineBudget({ mask, channel }));
    if (shown === '') found.push('nothing left to show');
    const sent = Buffer.from(`PRIVMSG ${channel} :${shown}\r\n`);
    const commands = readCommands(sent);
    const [first] = commands;
    if (commands.length !== 1 || first?.command !== 'PRIVMSG') found.push('foreign command');
    if (first?.parameters.length !== 2 || first.parameters[0] !== channel || first.parameters[1] !== shown) {
      found.push('other target or text than meant');
    }
    if (Buffer.byteLength(`:${mask} `) + sent.length > 512) found.push('line over 512 bytes');
    if (utf8.decode(sent.subarray(0, -2)) !== `PRIVMSG ${channel} :${shown}`) found.push('invalid UTF-8');
  }
  return found;
}

t.test('the line reader sees what a careless sender would do', async (t) => {
  t.same(readCommands(Buffer.from('PRIVMSG #a :x\r\nJOIN #ops\r\n')), [
    { command: 'PRIVMSG', parameters: ['#a', 'x'] },
    { command: 'JOIN', parameters: ['#ops'] },
  ]);
  t.equal(readCommands(Buffer.from('PRIVMSG #a :x\nQUIT\0QUIT\rQUIT')).length, 4);
  t.same(readCommands(Buffer.from('PRIVMSG #a,#ops :x :y\r\n')), [
    { command: 'PRIVMSG', parameters: ['#a,#ops', 'x :y'] },
  ]);
});

t.test(`ROUTE-18 ROUTE-28 ROUTE-29 ROUTE-31 ${events} hostile events, one clean line each`, async (t) => {
  const random = generator(20_260_101);
  const found = new Map<string, number>();
  let channels = 0;
  for (let n = 0; n < events; n++) {
    const event = {
      event_id: text(random),
      event_type: pick(random, types),
      source: text(random),
      payload: payload(random, 0, Math.floor(random() * 24)),
    };
    let wrong: string[];
    try {
      const route = routeEvent(event);
      wrong = faults(route);
      channels += route.targetChannels.length;
    } catch (error) {
      wrong = [`throws ${error}`];
    }
    for (const fault of wrong) found.set(fault, (found.get(fault) ?? 0) + 1);
  }
  t.same([...found], []);
  t.ok(channels > events * 1.1, `${channels} lines, in more than the one channel of last resort`);
});

t.test('ROUTE-20 ROUTE-31 hostile bodies are refused with a path or shown, never an exception', async (t) => {
  const random = generator(7);
  let accepted = 0;
  let refused = 0;
  for (let n = 0; n < 20_000; n++) {
    const body = JSON.parse(
      JSON.stringify({
        event_id: random() < 0.5 ? `evt-${n}` : value(random),
        event_type: random() < 0.7 ? pick(random, types) : value(random),
        source: random() < 0.7 ? 'market' : value(random),
        payload: random() < 0.9 ? payload(random, 0, 8) : value(random),
      }),
    );
    const result = MarketEvent.safeParse(body);
    if (result.success) {
      accepted += 1;
      const wrong = faults(routeEvent(result.data));
      if (wrong.length > 0) t.same(wrong, []);
    } else {
      refused += 1;
      if (result.error.issues.some((issue) => issue.path.length === 0)) t.fail('a fault without a path');
    }
  }
  t.ok(accepted > 2000 && refused > 2000, `${accepted} accepted, ${refused} refused`);
  t.equal(({} as Record<string, unknown>).id, undefined, 'no prototype was touched');
});

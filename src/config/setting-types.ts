import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { isNick } from '../../streams/irc-grammar.js';
import type { Thresholds } from '../../streams/moderation/index.js';
import { readModelsFile } from '../operations/deliberation/models-file.js';
import { readPaidChannels } from './paid-channels.js';

/** A setting that is the address of a server; empty for our own server. */
export const address = (protocols: string[], example: string, preset = '') =>
  z
    .string()
    .default(preset)
    .refine((text) => text === '' || isAddress(text, protocols), `must be an address like ${example}`);

function isAddress(text: string, protocols: string[]): boolean {
  if (/\s/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  // PostgreSQL is also reached through a socket file, without a host
  return protocols.includes(protocol) && (hostname !== '' || protocol.startsWith('postgres'));
}

/** Whether a text is a list of addresses of log servers. */
export function areNatsAddresses(text: string): boolean {
  return text === '' || text.split(',').every((one) => isAddress(one.trim(), ['nats:', 'tls:']));
}

/** Whether a text is a host name or an address (IPv6 in brackets) and a port. */
export function isHostAndPort(text: string): boolean {
  const match = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+):(\d{1,5})$/i.exec(text);
  return match !== null && Number(match[1]) >= 1 && Number(match[1]) <= 65_535;
}

/** Whether a text is the origin of web pages, as browsers send it. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/** Whether a text is the host of an address, with its port or without one. */
export function isHost(text: string): boolean {
  return (
    URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname !== '' && !/[/?#@\s]/.test(text)
  );
}

/** A setting that is a file with the rules of the network, `none`, or empty for the built-in rules. */
export const rulesFile = z
  .string()
  .default('')
  .refine(
    (path) => path === '' || path === 'none' || canBeRead(path),
    'must be a file that can be read, or none',
  );

function canBeRead(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A setting that is a number in decimal digits. */
export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.string().transform((text, context) => {
    const number = Number(text);
    if (/^\s*\d+\s*$/.test(text) && number >= min && number <= max) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`;
    context.addIssue({ code: 'custom', message: `must be a whole number ${range}` });
    return z.NEVER;
  });
/** A setting that is a TCP port; 0 is any free one. */
export const port = (preset: number) => wholeNumber(0, 65_535).default(preset);
/** A setting that is a time in milliseconds. */
export const milliseconds = (preset: number) => wholeNumber(1).default(preset);
/** A setting that is a list of words with commas between them. */
export const list = (preset: string) =>
  z
    .string()
    .default(preset)
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    );

/** A setting that names keys and their holders. */
export const apiKeys = list('').transform((pairs, context) =>
  pairs.map((pair) => {
    const colon = pair.indexOf(':');
    if (colon < 1 || colon === pair.length - 1) {
      // the pair itself is a secret: name its place only
      context.addIssue({
        code: 'custom',
        message: `must be name:key pairs with commas between them; pair ${pairs.indexOf(pair) + 1} has another form`,
      });
    }
    return { name: pair.slice(0, colon), key: pair.slice(colon + 1) };
  }),
);

/**
 * A setting that names producers of events and their secrets. One name may have several while one replaces
 * another.
 */
export const producers = list('').transform((pairs, context) => {
  const say = (index: number, what: string) =>
    // the pair itself is a secret: name its place only
    context.addIssue({ code: 'custom', message: `pair ${index + 1} ${what}` });
  const known = pairs.map((pair, index) => {
    const [, source = '', secret = ''] = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)$/.exec(pair) ?? [];
    if (source === '')
      say(
        index,
        'is no name=secret: a name has 1 to 64 of A-Z a-z 0-9 _ . - and a secret has at least one character',
      );
    return { source, secret };
  });
  known.forEach(({ secret }, index) => {
    if (secret !== '' && known.findIndex((other) => other.secret === secret) < index)
      say(index, 'has the secret of another pair');
  });
  return known;
});

/** A list setting whose items are some of a few words. */
export const someOf = <Word extends string>(words: readonly Word[], preset: Word) =>
  list(preset).transform((given, context) => {
    if (given.length === 0 || !given.every((word) => words.includes(word as Word)))
      context.addIssue({ code: 'custom', message: `must be one or more of ${words.join(', ')}` });
    return given as Word[];
  });

/** The points from which an incident is a LOG, WARN, MUTE, KICK and BAN. */
export const thresholds = list('20,40,60,80,95').transform((texts, context): Thresholds => {
  const points = texts.map(Number);
  const areRising = points.every((point, index) => point >= (points[index - 1] ?? 0) + 1 && point <= 101);
  if (points.length !== 5 || !areRising || !texts.every((text) => /^\d{1,3}$/.test(text)))
    context.addIssue({ code: 'custom', message: 'must be five rising whole numbers from 1 to 101' });
  return points as unknown as Thresholds;
});

/** A setting that says which proxies are trusted: their addresses and networks, or how many are in front. */
export const proxies = list('').transform((given, context): number | string[] => {
  const [first = ''] = given;
  if (given.length === 1 && /^[0-9]$/.test(first)) return Number(first);
  if (given.every(isNetwork)) return given;
  const message =
    'must be addresses and networks like 127.0.0.1 and 10.0.0.0/8, with commas between them, or the number of proxies in front';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const kind = isIP(address);
  return kind !== 0 && Number(bits ?? 0) <= (kind === 4 ? 32 : 128);
}

/** A setting that is an amount of US dollars. */
export const dollars = (preset: number) =>
  z
    .string()
    .default(String(preset))
    .refine((text) => /^\d{1,6}(\.\d{1,6})?$/.test(text), 'must be an amount of US dollars like 1.00')
    .transform(Number);

/** A setting that is the path of a file with a list, empty for an empty list. `read` throws what is wrong with the file. */
const listFile = <Entry>(read: (path: string) => Entry[]) =>
  z
    .string()
    .default('')
    .transform((path, context): Entry[] => {
      try {
        return path === '' ? [] : read(path);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
        return z.NEVER;
      }
    });

/** A setting that is the path of the file of models; their keys are added from the environment. */
export const modelsFile = listFile(readModelsFile);
/** A setting that is the path of the file of paid channels. */
export const paidChannelsFile = listFile(readPaidChannels);

/** A setting that is the nick of a bot. */
export const nick = (preset: string) =>
  z
    .string()
    .default(preset)
    .refine(isNick, 'must be an IRC nick of 1 to 30 characters that does not begin with a digit');

/** A setting that is true or false. */
export const truth = (preset: 'true' | 'false') =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .default(preset)
    .transform((value) => value === 'true');

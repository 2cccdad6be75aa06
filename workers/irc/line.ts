import { type IrcMessage, ircLineParser } from 'irc-framework';

/** One parsed line from the server: tags (unescaped), prefix split into nick, ident and hostname, command, parameters. */
export type IrcLine = Readonly<IrcMessage>;

/**
 * Parses one line without its line end. This is for rare lines; the hot path uses `rawTag` and `commandAt`.
 */
export const parseLine = (line: string): IrcLine => ircLineParser(line);

/** The escaped value of a tag of an unparsed line; `undefined` if the line has no such tag. */
export function rawTag(line: string, key: string): string | undefined {
  if (line.charCodeAt(0) !== 64) return undefined;
  const section = line.indexOf(' ');
  let from = 1;
  if (!line.startsWith(`${key}=`, 1)) {
    from = line.indexOf(`;${key}=`) + 1;
    if (from === 0 || from > section) return undefined;
  }
  from += key.length + 1;
  const end = line.indexOf(';', from);
  return line.slice(from, end === -1 || end > section ? section : end);
}

/** The index in an unparsed line where its command begins, after tags and prefix. */
export function commandAt(line: string): number {
  let at = line.charCodeAt(0) === 64 ? line.indexOf(' ') + 1 : 0;
  if (line.charCodeAt(at) === 58) at = line.indexOf(' ', at) + 1;
  return at;
}

/** The command word of an unparsed line. */
export function commandOf(line: string): string {
  const at = commandAt(line);
  const end = line.indexOf(' ', at);
  return end === -1 ? line.slice(at) : line.slice(at, end);
}

/** Client tag with the id that a line has here. */
export const eventTag = '+svc/event';
/** Client tag with the msgid of the line that a line answers. */
export const replyTag = '+draft/reply';

const escapes: Record<string, string> = { ';': '\\:', ' ': '\\s', '\\': '\\\\', '\r': '\\r', '\n': '\\n' };

/** A text as the value of a message tag, escaped as IRCv3 defines; NUL has no escape and is dropped. */
export const escapeTag = (value: string): string =>
  value.replaceAll('\0', '').replace(/[; \\\r\n]/g, (character) => escapes[character]!);

/** Whether an answer's command is an error numeric (4xx, 5xx and the few errors beyond them). */
export const isError = (command: string): boolean => /^(?:[45]\d\d|69[678]|723|9(?:26|36|72))$/.test(command);

/** The last parameter of a line: the human text of a numeric. */
export const textOf = (line: IrcLine): string => line.params.at(-1) ?? '';

const maxCommandBytes = 510;

/**
 * Joins the parts of a command into one line; the last part may hold spaces. Throws a TypeError if a part
 * could end the line, shift the parameters, or make the line longer than a server reads.
 */
export function commandLine(parts: readonly string[]): string {
  const [command = '', ...parameters] = parts;
  if (!/^[A-Za-z0-9]+$/.test(command)) throw new TypeError('not an IRC command word');
  const words = parameters.map((parameter, index) => {
    const middle = parameter !== '' && !parameter.includes(' ') && !parameter.startsWith(':');
    if (/[\r\n\0]/.test(parameter))
      throw new TypeError(`parameter ${index + 1} of ${command} holds a line end`);
    if (middle) return parameter;
    if (index < parameters.length - 1)
      throw new TypeError(`parameter ${index + 1} of ${command} is not one word`);
    return `:${parameter}`;
  });
  const line = [command, ...words].join(' ');
  if (Buffer.byteLength(line) > maxCommandBytes) throw new TypeError(`${command} is longer than a line`);
  return line;
}

/**
 * Items in groups of at most `most`. The names of a group, each with a separator, have at most so many bytes
 * together.
 */
export function grouped<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  bytes: number,
  most = Number.POSITIVE_INFINITY,
): Item[][] {
  const groups: Item[][] = [];
  let left = 0;
  for (const item of items) {
    const size = Buffer.byteLength(nameOf(item)) + 1;
    if (size > left || groups.at(-1)!.length >= most) {
      groups.push([]);
      left = bytes;
    }
    groups.at(-1)!.push(item);
    left -= size;
  }
  return groups;
}

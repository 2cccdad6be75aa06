import type { ModeChange } from '../facts.js';
import { type Channel, keptOf } from '../state.js';
import { type Command, explain, lacks, type Run } from './command.js';

/** Only operators of the network keep a channel when it is empty. */
const permanent = 'P';

/** Carries changes of a channel's modes out; operators of the network may force them. */
export function changeModes(run: Run, channel: Channel, words: readonly string[], isForced: boolean): void {
  const { server, client, user } = run;
  const [letters = '', ...parameters] = words;
  const changes: ModeChange[] = [];
  let sign: '+' | '-' = '+';
  for (const letter of letters) {
    if (letter === '+' || letter === '-') {
      sign = letter;
      continue;
    }
    const [listed, always, whenSet, never] = server.kind.channelModes;
    const isStatus = letter === 'o' || letter === 'v';
    if (!isStatus && ![listed, always, whenSet, never].some((of) => of.includes(letter))) {
      client.numeric('472', letter, 'is not a recognised channel mode.');
      continue;
    }
    const takes =
      isStatus ||
      listed.includes(letter) ||
      always.includes(letter) ||
      (sign === '+' && whenSet.includes(letter));
    const value = takes ? parameters.shift() : undefined;
    if (listed.includes(letter) && value === undefined) {
      const list = lists[letter];
      if (list) show(run, channel, list);
      continue;
    }
    const isOwn = letter === 'o' && sign === '-' && value !== undefined && server.user(value) === user;
    if (!isForced && !isOwn && !channel.members.get(user)?.has('o')) {
      client.numeric(
        '482',
        channel.name,
        `You must be a channel op or higher to set channel mode ${letter}.`,
      );
      continue;
    }
    if (letter === permanent && !user.modes.has('o')) {
      client.numeric('481', 'Permission Denied - Only operators may set or unset this mode');
      continue;
    }
    if (takes && value === undefined) {
      client.numeric('696', channel.name, letter, '*', 'You must specify a parameter for the mode.');
      continue;
    }
    const change = changeOf(run, channel, sign, letter, value, changes);
    if (change) changes.push(change);
  }
  if (changes.length > 0)
    server.happen({ is: 'mode', by: { user: user.id }, channel: channel.name, changes, at: server.now });
}

/** One change, if it is one. */
function changeOf(
  { server, client }: Run,
  channel: Channel,
  sign: '+' | '-',
  letter: string,
  value: string | undefined,
  before: readonly ModeChange[],
): ModeChange | undefined {
  const isSet = sign === '+';
  if (letter === 'o' || letter === 'v') {
    const user = server.user(value!);
    if (!user) client.numeric('401', value!, 'No such nick');
    const status = user && channel.members.get(user);
    if (!user || !status || status.has(letter) === isSet) return undefined;
    return { sign, letter, value: user.nick, user: user.id };
  }
  const list = lists[letter];
  if (list) {
    const mask = maskFrom(value!);
    const isThere = channel[list.of].some((one) => one.mask === mask);
    if (isThere !== isSet) return { sign, letter, value: mask };
    const { name } = channel;
    if (isSet)
      client.numeric('697', name, mask, letter, `Channel ${list.name} list already contains ${mask}`);
    else client.numeric('698', name, mask, letter, `Channel ${list.name} list does not contain ${mask}`);
    return undefined;
  }
  const undone = before.findLast((change) => change.letter === letter);
  const isThere = undone ? undone.sign === '+' : channel.modes.has(letter);
  const current = undone ? undone.value : channel.modes.get(letter);
  if (letter === 'k') {
    if (isSet) return isThere ? undefined : { sign, letter, value };
    if (isThere && current === value) return { sign, letter, value };
    if (isThere) client.numeric('467', channel.name, 'Channel key already set');
    return undefined;
  }
  if (letter === 'H' && isSet && !keptOf(value!)) {
    client.numeric('696', channel.name, 'H', value!, 'Invalid history mode parameter.');
    return undefined;
  }
  if (isSet ? isThere && current === value : !isThere) return undefined;
  return { sign, letter, value };
}

interface List {
  of: 'bans' | 'excepts';
  name: string;
  numerics: readonly [entry: string, end: string];
  end: string;
}

const lists: Record<string, List | undefined> = {
  b: { of: 'bans', name: 'ban', numerics: ['367', '368'], end: 'End of channel ban list' },
  e: {
    of: 'excepts',
    name: 'banexception',
    numerics: ['348', '349'],
    end: 'End of Channel Exception List',
  },
};

function show({ client }: Run, channel: Channel, { of, numerics, end }: List): void {
  for (const { mask, by, at } of channel[of])
    client.numeric(numerics[0], channel.name, mask, by, String(Math.floor(at / 1_000)));
  client.numeric(numerics[1], channel.name, end);
}

/** A mask in full: what lacks a user or a host has any. */
function maskFrom(text: string): string {
  const [, kind = '', mask = ''] = /^((?:[A-Za-z]:)*)(.*)$/s.exec(text)!;
  if (/R:$/.test(kind) || (mask.includes('!') && mask.includes('@'))) return text;
  if (mask.includes('@')) return `${kind}*!${mask}`;
  return mask.includes('!') ? `${kind}${mask}@*` : `${kind}${mask}!*@*`;
}

const mode: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 1)) return;
  const [target = '', ...words] = parameters;
  if (!target.startsWith('#')) return userMode(run, target, words);
  const channel = server.channel(target);
  if (!channel || channel.isHiddenFrom(user)) return client.numeric('403', target, 'No such channel');
  if (words.length > 0) return changeModes(run, channel, words, false);
  client.numeric('324', channel.name, ...channel.shownModes(channel.members.has(user)));
  client.numeric('329', channel.name, String(Math.floor(channel.since / 1_000)));
};

function userMode(run: Run, target: string, [letters, ...words]: string[]): void {
  const { server, client, user } = run;
  const other = server.user(target);
  if (!other) client.numeric('401', target, 'No such nick');
  else if (other !== user) client.numeric('502', "Can't change mode for other users");
  if (other !== user) return;
  if (letters === undefined) {
    client.numeric('221', `+${[...user.modes].sort().join('')}`);
    if (user.modes.has('o')) client.numeric('008', '+', 'Server notice mask');
    return;
  }
  let sign = '+';
  let notices = '';
  const done = { '+': '', '-': '' } as Record<string, string>;
  for (const letter of letters) {
    if (letter === '+' || letter === '-') sign = letter;
    else if (!server.kind.userModes.includes(letter))
      client.numeric('501', letter, 'is not a recognised user mode.');
    else if (letter === 'o' && sign === '+')
      client.numeric('481', 'Permission Denied - Only operators may set user mode o');
    else if (letter === 's' && sign === '+') {
      notices = snomasks(run, words.shift() ?? '');
      if (notices === '') continue;
      done['+'] += letter;
      server.happen({ is: 'user mode', user: user.id, letter, isSet: true });
    } else if (user.modes.has(letter) !== (sign === '+')) {
      if (letter === 'd' && sign === '+' && server.kind.name === 'inspircd')
        explain(run, '*** You have enabled user mode +d, deaf mode.');
      done[sign] += letter;
      server.happen({ is: 'user mode', user: user.id, letter, isSet: sign === '+' });
      if (letter === 'o') server.happen({ is: 'user mode', user: user.id, letter: 's', isSet: false });
    }
  }
  const text = `${done['+'] && `+${done['+']}`}${done['-'] && `-${done['-']}`}`;
  if (text !== '') server.tell(client, user, 'MODE', user.nick, text, ...(notices === '' ? [] : [notices]));
}

/** Which notices of the server an operator wants; those about links only a server knows that can be linked. */
function snomasks({ server, client }: Run, letters: string): string {
  let known = '';
  for (const letter of letters.replace(/[+-]/g, '')) {
    if (server.options.linked()) known += letter;
    else client.numeric('501', letter, 'is an unknown snomask character');
  }
  return known && `+${[...known].sort().join('')}`;
}

/** Modes of channels and users. */
export const modes: Record<string, Command> = { MODE: mode };

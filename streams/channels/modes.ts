/** Modes of a channel that take a parameter when they are set. `k` also takes one when it is removed. */
const withParameter = new Set(['k', 'l', 'H', 'f', 'j', 'F', 'J', 'L', 'd']);

/** One mode that is set or taken away. */
export interface ModeChange {
  sign: '+' | '-';
  flag: string;
  parameter: string | undefined;
}

/**
 * Reads a mode string such as `+ntk-i secret`. Answers `undefined` for anything else: no sign first, no
 * flags, or a missing or superfluous parameter. List and member modes (`b`, `o`, `v` …) are refused too: they
 * are no settings of a channel.
 */
export function parseModes(text: string): ModeChange[] | undefined {
  const [flags = '', ...parameters] = text.trim().split(/ +/);
  if (!/^[+-]([A-Za-z]|[+-](?=[A-Za-z]))*[A-Za-z]$/.test(flags)) return undefined;
  if (/[beIgwXohvaq]/.test(flags) || parameters.some((parameter) => /[\x00-\x20\x7f:,]/.test(parameter))) {
    return undefined;
  }
  const changes: ModeChange[] = [];
  let sign: '+' | '-' = '+';
  for (const flag of flags) {
    if (flag === '+' || flag === '-') {
      sign = flag;
      continue;
    }
    const takesOne = withParameter.has(flag) && (sign === '+' || flag === 'k');
    const parameter = takesOne ? parameters.shift() : undefined;
    if (takesOne && parameter === undefined && sign === '+') return undefined;
    if (flag === 'l' && parameter !== undefined && !/^[1-9]\d{0,4}$/.test(parameter)) return undefined;
    changes.push({ sign, flag, parameter });
  }
  return parameters.length === 0 ? changes : undefined;
}

/** What is wrong with a text that is no mode string, as a text that follows its name. */
export function modesFault(text: string): string | undefined {
  if (parseModes(text)) return undefined;
  const [flags = ''] = text.trim().split(/ +/);
  const [ofMembers] = /[ohvaq]/.exec(flags) ?? [];
  if (ofMembers) return `must not have ${ofMembers}, which is a mode of members and not of the channel`;
  const [list] = /[beIgwX]/.exec(flags) ?? [];
  if (list) return `must not have ${list}, which is a list of the channel and not a setting`;
  return 'must be a mode string like +nt or -i+k secret, with a limit of 1 to 99999 after l';
}

/** The flags that a mode string leaves set, with their parameters. */
export function modeFlags(text: string): Map<string, string | undefined> {
  const flags = new Map<string, string | undefined>();
  for (const { sign, flag, parameter } of parseModes(text) ?? []) {
    if (sign === '+') flags.set(flag, parameter);
    else flags.delete(flag);
  }
  return flags;
}

/**
 * A mode string of flags that are set, in the order in which they were set: `+ntk secret`; `+` without any.
 */
export function modeString(flags: ReadonlyMap<string, string | undefined>): string {
  const parameters = [...flags.values()].filter((parameter) => parameter !== undefined);
  return [`+${[...flags.keys()].join('')}`, ...parameters].join(' ');
}

/** All modes after a change. Both arguments are mode strings. */
export function changedModes(modes: string, change: string): string {
  const flags = modeFlags(modes);
  for (const { sign, flag, parameter } of parseModes(change) ?? []) {
    if (sign === '+') flags.set(flag, parameter);
    else flags.delete(flag);
  }
  return modeString(flags);
}

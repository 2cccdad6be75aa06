/** Makes a text that a pattern of a rule matches, but for what it looks ahead or back at; `below` says by which choices. */
export function sampleOf({ source }: RegExp, below: (bound: number) => number): string {
  let at = 0;
  const ways = (): string => {
    const all = [way()];
    while (source[at] === '|') {
      at += 1;
      all.push(way());
    }
    return all[below(all.length)]!;
  };
  const way = (): string => {
    let text = '';
    while (at < source.length && source[at] !== '|' && source[at] !== ')') text += part();
    return text;
  };
  const part = (): string => {
    const from = at;
    const one = single();
    const [sign, least, most] = /^(?:[?*+]|\{(\d+)(?:,(\d+))?\})/.exec(source.slice(at)) ?? [];
    if (sign === undefined) return one;
    const lower = Number(least ?? (sign === '+' ? 1 : 0));
    const times = lower + below(Math.min(4, Number(most ?? least ?? 1) - lower + 1));
    let text = '';
    // each time by choices of its own
    for (let count = 0; count < times; count++) {
      at = from;
      text += single();
    }
    const end = from + lengthOf(from) + sign.length;
    at = end;
    return text;
  };
  const lengthOf = (from: number): number => {
    const back = at;
    at = from;
    single();
    const length = at - from;
    at = back;
    return length;
  };
  const single = (): string => {
    const [look] = /^\(\?(?:<?[=!])/.exec(source.slice(at)) ?? [];
    const opened = look ?? (source.startsWith('(?:', at) ? '(?:' : undefined);
    if (opened !== undefined) {
      at += opened.length;
      const text = ways();
      at += 1;
      return look ? '' : text;
    }
    const [sign] = /^(?:\[(?:\\.|[^\]\\])*\]|\\p\{\w+\}|\\.|.)/su.exec(source.slice(at))!;
    at += sign.length;
    if (/^(?:\^|\$|\\b)$/.test(sign)) return '';
    if (!/^(?:\.$|\[|\\[dswp])/.test(sign)) return sign.replace(/^\\/, '');
    const matching = new RegExp(`^${sign}$`, 'u');
    const fitting = [...'abcdefghijklmnopqrstuvwxyz0123456789 .,:;!?_-|/{}[]()<>='].filter((character) =>
      matching.test(character),
    );
    return fitting[below(fitting.length)] ?? '';
  };
  return ways();
}

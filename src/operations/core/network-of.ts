/** The part of an address that identifies its caller: of an IPv6 address, so many bits, a multiple of 16. */
export function networkOf(address: string, bits = 64): string {
  if (!address.includes(':') || /^::ffff:\d+\./i.test(address)) return address.replace(/^::ffff:/i, '');
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const gap = Array(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...(tail === undefined ? [] : gap), ...right].slice(0, bits / 16).join(':');
}

import type { Config } from './config.js';

/**
 * Where agents connect to IRC, as far as the settings tell. `IRC_URL` does not count: it may be an internal
 * address.
 */
export function ircAddress({
  IRC_PUBLIC_URL,
  IRC_URL,
  IRC_EMBEDDED_PORT,
}: Pick<Config, 'IRC_PUBLIC_URL' | 'IRC_URL' | 'IRC_EMBEDDED_PORT'>): string {
  if (IRC_PUBLIC_URL !== '') return IRC_PUBLIC_URL;
  return IRC_URL === '' ? `irc://127.0.0.1:${IRC_EMBEDDED_PORT}` : '';
}

import { isLoopback, minKeyLength } from './auth/api-keys.js';
import type { Config } from './config.js';

const minSecretLength = 32;

/** Settings that work and that an operator should know the risk of. No secret is in the texts. */
export function bootWarnings(config: Config): string[] {
  const warnings: string[] = [];
  const open = config.HOST !== 'localhost' && !isLoopback(config.HOST);
  if (config.API_KEYS.length === 0) {
    warnings.push('API_KEYS is empty: routes that change something answer local callers only');
  }
  for (const { name, key } of config.API_KEYS) {
    if (key.length < minKeyLength)
      warnings.push(`the API key of ${name} is shorter than ${minKeyLength} characters`);
  }
  for (const [index, secret] of config.EM_WEBHOOK_SECRET.entries()) {
    if (secret.length < minSecretLength)
      warnings.push(`webhook secret ${index + 1} is shorter than ${minSecretLength} characters`);
  }
  if (open && config.RATE_LIMIT === 0) warnings.push('RATE_LIMIT is 0 on an address that others can reach');
  if (config.NATS_URL !== '' && config.NATS_REPLICAS === 1) {
    warnings.push('NATS_REPLICAS is 1: the facts are on one server only');
  }
  if (config.IRC_URL !== '' && config.IRC_OPER_NAME === '') {
    warnings.push(
      'IRC_OPER_NAME is empty: the bot cannot enter closed channels, nor end a stale session of its own at once',
    );
  }
  if (config.IRC_URL.startsWith('irc://') && !/^irc:\/\/(127\.|localhost|\[::1\])/.test(config.IRC_URL)) {
    warnings.push('IRC_URL is not encrypted (irc://): passwords cross the network in the clear');
  }
  return warnings;
}

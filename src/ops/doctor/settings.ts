import { minSecretLength, settingRisks } from '../../warnings.js';
import { type Check, fail, ok, skipped, warn } from './finding.js';

const names: Check = {
  id: 'setting-names',
  look({ unknownNames }) {
    const found = unknownNames();
    if (found.length === 0) return ok('no name in .env or much like a setting is unknown');
    return found.map((text) => warn(text, 'correct the name or remove it; .env.example has all of them'));
  },
};

const risks: Check = {
  id: 'setting-risks',
  look({ config }) {
    const found = settingRisks(config);
    return found.length === 0 ? ok('no setting is risky') : found.map(({ what, mend }) => warn(what, mend));
  },
};

const webhookSecret: Check = {
  id: 'webhook-secret',
  async look({ secrets, own, service }) {
    const { webhook } = await secrets();
    if (webhook.length === 0) {
      if (own.nats && own.sql && own.irc && (await service()).is === 'absent')
        return skipped('the first start makes one');
      return fail(
        'there is no webhook secret: no event is accepted',
        'set EM_WEBHOOK_SECRET to what the marketplace signs with, 32 random bytes in hexadecimal',
      );
    }
    const short = webhook.findIndex((secret) => secret.length < minSecretLength);
    if (short >= 0)
      return warn(
        `webhook secret ${short + 1} is shorter than ${minSecretLength} characters`,
        'set a longer one as well, give it to the marketplace, then remove the short one',
      );
    return ok(`${webhook.length} secret${webhook.length > 1 ? 's' : ''}, long enough`);
  },
};

/** The settings. (That they can be read at all is seen before any check.) */
export const settingChecks: Check[] = [names, risks, webhookSecret];

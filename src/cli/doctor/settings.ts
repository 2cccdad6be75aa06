import {
  keysFileProblem,
  makesWebhookSecret,
  modelKeyProblems,
  settingRisks,
  shortSecrets,
} from '../../config/warnings.js';
import { hasLog, secretsFile } from '../../servers/secrets.js';
import { moment } from '../core/terminal.js';
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

const keysFile: Check = {
  id: 'keys-file',
  look({ config }) {
    if (config.API_KEYS_FILE === '') return ok('API_KEYS_FILE is empty: no file has keys');
    const problem = keysFileProblem(config);
    return problem === undefined
      ? ok(`the keys of ${config.API_KEYS_FILE} can be read`)
      : fail(
          problem,
          'mend the file: one name:key pair a line, # before comments. No service starts with it, and one that runs keeps the keys that it read last',
        );
  },
};

const modelKeys: Check = {
  id: 'model-keys',
  look({ config }) {
    if (config.MODELS.length === 0) return ok('MODELS is empty: no model is asked');
    const missing = modelKeyProblems(config);
    return missing.length === 0
      ? ok('each model that is asked has its key')
      : missing.map((what) =>
          fail(what, 'set that variable, or take api_key_env out of the file. No service starts without it'),
        );
  },
};

const webhookSecret: Check = {
  id: 'webhook-secret',
  async look({ config, secrets, service, dataDir }) {
    const { webhook, webhookRemadeAt } = await secrets();
    const file = secretsFile(dataDir);
    if (webhook.length === 0) {
      if (makesWebhookSecret(config) && hasLog(dataDir))
        return warn(
          `${file} has no webhook secret although there is an event log: the next start makes a new one, and events that are signed with the old one are refused then`,
          'put the file back from a copy, or set EM_WEBHOOK_SECRET to what the marketplace signs with',
        );
      if (makesWebhookSecret(config) && (await service()).is === 'absent')
        return skipped('the first start makes one');
      return fail(
        'there is no webhook secret: no event is accepted',
        'set EM_WEBHOOK_SECRET to what the marketplace signs with, 32 random bytes in hexadecimal',
      );
    }
    if (webhookRemadeAt !== undefined)
      return warn(
        `the webhook secret was lost and made again, ${moment(webhookRemadeAt)}: events that are signed with the old one are refused`,
        `put the old ${file} back and restart the service, or give the new em_webhook_secret to whoever posts events and take remade_at out of the file`,
      );
    const short = shortSecrets(config);
    if (short.length > 0)
      return short.map((what) =>
        warn(what, 'set a longer one as well, give it to whoever signs with it, then remove the short one'),
      );
    return ok(`${webhook.length} secret${webhook.length > 1 ? 's' : ''}, long enough`);
  },
};

/** The settings. (That they can be read at all is seen before any check.) */
export const settingChecks: Check[] = [names, risks, keysFile, modelKeys, webhookSecret];

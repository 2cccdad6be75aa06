import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { MarketPayload } from '../../../streams/events/event.js';
import { samplePayload, sampleTypes } from '../../../streams/events/samples.js';
import { type SignatureScheme, signedHeaders } from '../../auth/webhook-signature.js';
import { RelayError } from '../../client/error.js';
import type { Config } from '../../config/config.js';
import { makesWebhookSecret } from '../../config/warnings.js';
import type { Warning } from '../../operations/events/warnings.js';
import { secretsFile, storedSecrets } from '../../servers/secrets.js';
import { defineCommand, type Option, text, type Values } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';
import { print, printable, styled, type Terminal } from '../core/terminal.js';
import { type Reply, type ServiceClient, serviceOf, serviceOptions } from '../service/client.js';
import { newTaskId } from './task-id.js';

const Accepted = z.looseObject({ target_channels: z.array(z.string()), formatted_message: z.string() });

const options = {
  file: text('FILE', 'JSON file with the payload, or with a whole event around it; - reads the input'),
  payload: text('JSON', 'the payload itself'),
  set: {
    value: 'FIELD=VALUE',
    multiple: true,
    says: 'change a field of the payload; may be given several times',
  } as Option<string[]>,
  task: text('ID', 'id of the task or relay in the sample (default: a new one)'),
  id: text('ID', 'event_id (default: a new one)'),
  source: text('NAME', 'source (default: command-line)'),
  url: serviceOptions.url,
};

/** An event on its way to the webhook. */
export interface OutgoingEvent {
  event_id: string;
  event_type: string;
  source: string;
  payload: MarketPayload;
}

/** `relay emit` */
export const emitCommand = defineCommand({
  name: 'emit',
  arguments: ['<event_type>'],
  summary: 'Sign a marketplace event and post it to the webhook',
  details:
    `Without a payload a sample is sent; there are samples for:\n  ${sampleTypes.join('\n  ')}\n` +
    'The secret is EM_WEBHOOK_SECRET, else the one that the service generated in DATA_DIR.',
  options,
  async run(invocation) {
    const [type = ''] = invocation.arguments;
    const { options } = invocation;
    const service = serviceOf(invocation, options);
    const signing = await signingOf(invocation.config());
    const event = eventOf(type, options);
    const reply = await postEvent(service, signing, event);
    print(invocation, reply.body, () => writeReply(invocation.terminal, event, reply));
  },
});

/** How events are signed for a service. */
export interface Signing {
  secret: string;
  schemes: SignatureScheme[];
}

/** Signs an event as the marketplace does and posts it. Throws `RelayError` when it is refused. */
export async function postEvent(
  service: ServiceClient,
  { secret, schemes }: Signing,
  event: OutgoingEvent,
): Promise<Reply> {
  const body = JSON.stringify(event);
  const headers = signedHeaders(secret, body, { schemes, now: new Date() });
  const reply = await service.send('POST', '/hooks/em/events', body, headers);
  if (reply.status >= 300) throw new RelayError(reply, reply.body);
  return reply;
}

/** How the service of this configuration is signed for. Throws `Failed` without a secret. */
export async function signingOf(config: Config): Promise<Signing> {
  return { secret: await webhookSecret(config), schemes: config.EM_WEBHOOK_SCHEMES };
}

/** The secret to sign with: the configured one, else the one that the service has generated. */
async function webhookSecret(config: Config): Promise<string> {
  const [configured] = config.EM_WEBHOOK_SECRET;
  if (configured) return configured;
  // a stored one, made for our own IRC server along with others, is not used then
  if (!makesWebhookSecret(config))
    throw noSecret(
      'The service makes none where NATS_URL, DATABASE_URL or IRC_URL is set. Set EM_WEBHOOK_SECRET to one and the same secret for the service and for this command.',
    );
  const dataDir = resolve(config.DATA_DIR);
  const file = secretsFile(dataDir);
  const stored = await storedSecrets(dataDir).catch(() => {
    throw new Failed(`${file} cannot be read`, 'secrets_unreadable');
  });
  if (stored.webhookSecret) return stored.webhookSecret;
  throw noSecret(
    `Start the service first, which generates one into ${file}, or set EM_WEBHOOK_SECRET to the one it uses.`,
  );
}

function noSecret(hint: string): Failed {
  return new Failed('there is no webhook secret to sign with', 'webhook_secret_missing', hint);
}

function eventOf(event_type: string, chosen: Values<typeof options>): OutgoingEvent {
  const { file, payload: given, task } = chosen;
  if (file !== undefined && given !== undefined)
    throw new UsageError('--file and --payload exclude each other');
  const sample = samplePayload(event_type, task ?? newTaskId());
  const parsed =
    file === undefined ? given && parseObject(given, '--payload') : parseObject(readText(file), file);
  if (!parsed && !sample) {
    throw new UsageError(
      `there is no sample for ${event_type}: give --payload or --file, or use one of ${sampleTypes.join(', ')}`,
    );
  }
  if (parsed && task !== undefined) throw new UsageError('--task belongs to the samples: use --set id=ID');
  const whole = file !== undefined && parsed && isObject(parsed.payload) ? parsed : undefined;
  const payload = { ...((whole?.payload ?? parsed ?? sample) as MarketPayload) };
  for (const setting of chosen.set) {
    const [, field, value] = /^([^=]+)=(.*)$/s.exec(setting) ?? [];
    if (field === undefined) throw new UsageError('--set must be FIELD=VALUE');
    payload[field] = valueFrom(value!);
  }
  return {
    event_id: chosen.id ?? textIn(whole?.event_id) ?? `cli-${randomUUID()}`,
    event_type,
    source: chosen.source ?? textIn(whole?.source) ?? 'command-line',
    payload,
  };
}

/** Text, unless it is what JSON would print for a number, truth value, list or object. */
function valueFrom(value: string): unknown {
  try {
    const parsed = JSON.parse(value);
    return JSON.stringify(parsed) === value || typeof parsed === 'object' ? parsed : value;
  } catch {
    return value;
  }
}

function parseObject(json: string, from: string): MarketPayload {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`${from} is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(parsed)) throw new UsageError(`${from} must be a JSON object`);
  return parsed;
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new Failed(`${file} cannot be read: ${(error as Error).message}`, 'file_unreadable');
  }
}

function isObject(value: unknown): value is MarketPayload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function writeReply(terminal: Terminal, event: OutgoingEvent, { body }: Reply): void {
  const {
    status,
    reason,
    delivery_status,
    warnings = [],
  } = body as {
    status: string;
    reason?: string;
    delivery_status?: string;
    warnings?: Warning[];
  };
  const more = reason ?? delivery_status;
  terminal.out(
    `${styled(terminal, 'green', printable(status))}  ${printable(event.event_id)}${more ? printable(`  (${more})`) : ''}`,
  );
  const accepted = Accepted.safeParse(body);
  if (accepted.success) {
    terminal.out(`  ${printable(accepted.data.target_channels.join(' '))}`);
    terminal.out(`  ${printable(accepted.data.formatted_message)}`);
  }
  for (const { message } of warnings)
    terminal.err(styled(terminal, 'yellow', `warning: ${printable(message)}`));
}

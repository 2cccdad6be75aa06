import t from 'tap';
import { WebhookPlaces } from '../../src/operations/speech/webhook-places.js';
import { type WebhookCommand, webhookDecider, webhooks } from '../../streams/webhooks/index.js';
import { openLog } from '../identity/log.js';
import { startNats } from '../support/nats.js';

t.test('AGENTHOOK-15 there are so many webhooks, and a removed one makes room', async (t) => {
  const log = await openLog(t, await startNats(t));
  const places = new WebhookPlaces(log, 3);
  const handle = (command: WebhookCommand) => log.handle(webhooks, webhookDecider, command, { by: 'test' });
  const register = (nick: string) =>
    handle({
      is: 'register',
      nick,
      person: null,
      by: 'test',
      url: 'https://alice.example/',
      wants: ['private'],
      after: 0,
      secret_id: nick,
    });
  const enter = async (nick: string) => {
    await places.requireRoom(nick);
    await register(nick);
  };
  for (const nick of ['alice', 'bob', 'carol']) await enter(nick);
  await t.rejects(enter('dave'), { code: 'too_many_webhooks' });
  await enter('alice');
  await handle({ is: 'remove', nick: 'bob', person: null });
  await enter('erin');
  await t.rejects(enter('bob'), { code: 'too_many_webhooks' }, 'the place of bob is taken');
  await handle({ is: 'remove', nick: 'alice', person: null });
  await enter('bob');
  await t.rejects(enter('alice'), { code: 'too_many_webhooks' }, 'also for who had one before');
  for (let n = 0; n < 20; n++) {
    await handle({ is: 'remove', nick: n === 0 ? 'bob' : `nick${n - 1}`, person: null });
    await enter(`nick${n}`);
  }
  await t.rejects(new WebhookPlaces(log, 3).requireRoom('zoe'), { code: 'too_many_webhooks' });
  await new WebhookPlaces(log, 4).requireRoom('zoe');
});

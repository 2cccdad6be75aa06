import type { Test } from 'tap';
import type { App } from '../../src/app/app.js';
import { type Answer, askOf, environmentOf } from '../channels/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import type { TestIrcd } from '../support/ircd.js';
import { startNats, type TestNats } from '../support/nats.js';

/** A service with its identity bot on a network, and people who write to it. */
export interface BotStage {
  app: App & { url: string };
  nats: TestNats;
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  person(nick: string): Promise<Observer>;
  /** Writes a line to the bot and gives back its answer: one notice. */
  say(from: Observer, text: string): Promise<string>;
  /** Ends the service and starts it again on the same log. */
  restart(): Promise<void>;
}

/** Starts a log and the service on a network; `more` is added to the service's environment. */
export async function botStage(
  t: Test,
  ircd: TestIrcd,
  more: Record<string, string> = {},
): Promise<BotStage> {
  const nats = await startNats(t);
  const environment = { ...environmentOf({ nats, ircd }), ROLES: 'api,services,projections,irc', ...more };
  let app = await startApp(t, environment);
  await untilThere(app.url);
  const stage: BotStage = {
    nats,
    get app() {
      return app;
    },
    ask: (method, path, body) => askOf(app.url, method, path, body),
    person: async (nick) => {
      const person = await observe(ircd.port, { nick, password: ircd.serverPassword, reconnect: false });
      t.teardown(() => person.stop());
      return person;
    },
    say: async (from, text) => {
      const before = notices(from).length;
      from.send(`PRIVMSG mrserv :${text}`);
      await from.waitUntil(() => notices(from).length > before, `an answer to ${text}`);
      return notices(from)[before]!.text;
    },
    restart: async () => {
      await app.stop();
      app = await startApp(t, environment);
      await untilThere(app.url);
    },
  };
  return stage;
}

/** What the bot has said to somebody so far. */
export function notices(person: Observer) {
  return person.lines.filter(({ nick, command }) => nick === 'mrserv' && command === 'NOTICE');
}

async function untilThere(url: string): Promise<void> {
  await eventually('the identity bot', async () => {
    const { services } = (await (await fetch(`${url}/health`)).json()) as {
      services: Record<string, { status: string } | undefined>;
    };
    return services.mrserv?.status === 'ok';
  });
}

import { Screening } from '../../../streams/moderation/index.js';
import { looksLikeAny } from '../../../streams/nick-looks.js';
import { createSuperseding } from '../../../workers/channels/index.js';
import type { Term } from '../../../workers/core/lease.js';
import { createGateway, SpeakForAgents } from '../../../workers/speech/index.js';
import { endedKeys } from '../../auth/ended-keys.js';
import { keptNicks } from '../../config/bot-nicks.js';
import { serviceNicks } from '../../config/service-nicks.js';
import { findLine } from '../../operations/network/answered.js';
import { inboxFeed } from '../../operations/speech/inbox.js';
import type { SpeechParts } from '../../operations/speech/index.js';
import type { ListenParts } from '../../operations/speech/listen.js';
import type { BotParts } from '../bots/bot.js';
import { leased } from '../bots/leased.js';
import type { Area, AreaParts } from './area.js';
import { heardText } from './heard.js';

/** Speaking for agents that have no IRC connection of their own. */
export function speechArea(parts: BotParts & Pick<AreaParts, 'config' | 'readModels' | 'call'>): Area {
  const { config, log, logger, ircUrl, secrets, dial, readModels, call } = parts;
  const kept = keptNicks(config);
  const { ircGatewayPassword: password } = secrets;
  const isOn = config.GATEWAY_AGENTS > 0 && (config.IRC_URL === '' || config.IRC_GATEWAY_PASSWORD !== '');
  const speech: SpeechParts['speech'] = {
    gateway: createGateway(log),
    isOn,
    isKept: (nick) => looksLikeAny(nick, kept),
    isService: (nick) => looksLikeAny(nick, serviceNicks),
    heard: heardText(config),
    screen: (text) => new Screening(config.GUARDIAN_THRESHOLDS).screen(text),
    lineOf: async (channel, line, caller) => (await call(findLine, { channel, line }, caller)).line,
  };
  const ended = (actors: readonly string[]) => endedKeys(readModels, actors, log.now());
  const listening: ListenParts['listening'] = { inbox: inboxFeed(log, logger) };
  if (!isOn || !password) return { parts: { speech, listening } };
  let held: SpeakForAgents | undefined;
  const supersede = createSuperseding(log);
  const begin = ({ isSure }: Term) => {
    const gateway = new SpeakForAgents({
      log,
      logger,
      password,
      supersede,
      ended,
      bridge: config.BRIDGE_NICK,
      connection: { url: ircUrl, mayBegin: isSure, ...(dial ? { dial } : {}) },
      most: config.GATEWAY_AGENTS,
      idleMs: config.GATEWAY_IDLE_MINUTES * 60_000,
    });
    held = gateway;
    return {
      start: () => gateway.start(),
      stop: async () => {
        held = undefined;
        await gateway.stop();
      },
    };
  };
  return {
    parts: { speech, listening },
    connections: [leased(config, parts, 'gateway', begin)],
    gauged: [{ role: 'irc', part: 'gateway', read: () => (held ? [['gateway_agents', held.count]] : []) }],
  };
}

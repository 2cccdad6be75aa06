import type { Logger } from 'pino';
import { keptNicks } from '../config/bot-nicks.js';
import type { Config } from '../config/config.js';
import { chooseServicesLink, startAnope } from './anope.js';
import { anopeModulesDir, missingForServices } from './anope-config.js';
import { type Binary, findAnope, findInspircd } from './binaries.js';
import { startInspircd } from './inspircd.js';
import { type InspircdSecrets, installationOf } from './inspircd-config.js';
import type { OptionalChild } from './optional-child.js';
import type { Secrets } from './secrets.js';

/** Our own IRC network. */
export interface OwnNetwork {
  url: string;
  /** The nick service, which may not be up yet; `undefined` if it cannot be run. */
  nickService: OptionalChild | undefined;
  /** Ends its servers. Returns when their processes are gone. */
  stop(): Promise<unknown>;
}

/**
 * Starts an InspIRCd and, if Anope is installed, the nick service with it. Resolves when InspIRCd answers.
 */
export async function startOwnNetwork(options: {
  config: Config;
  dataDir: string;
  generated: Secrets;
  log: Logger;
  /** Where it listens for clients; loopback by default. */
  host?: string;
  anope?: () => Binary;
}): Promise<OwnNetwork> {
  const { config, dataDir, generated, log, host = '127.0.0.1' } = options;
  const found = lookForAnope(options.anope);
  if ('without' in found) {
    log.warn(`no nick service: nobody can identify on IRC, and LINK is refused there: ${found.without}`);
  }
  const anope = 'binary' in found ? found.binary : undefined;
  const services = anope && (await chooseServicesLink(dataDir, generated.ircServicesPassword));
  const secrets = ircSecrets(config, generated);
  const reservedNicks = keptNicks(config);
  const { IRC_EMBEDDED_PORT: port, IRC_CHANNELS: fixedChannels } = config;
  const server = await startInspircd({
    dataDir,
    log,
    host,
    port,
    secrets,
    reservedNicks,
    fixedChannels,
    services,
  });
  const irc = { port: server.port, password: secrets.serverPassword };
  const limits = { registerAfterSeconds: config.NICK_REGISTER_AFTER_SECONDS };
  const nickService = services && startAnope({ binary: anope, dataDir, link: services, limits, irc, log });
  return {
    url: server.url,
    nickService,
    stop: () => Promise.all([nickService?.stop(), server.stop()]),
  };
}

/** The passwords between the programs of the network: from the settings, or generated. */
function ircSecrets(config: Config, generated: Secrets): Required<InspircdSecrets> {
  return {
    operName: config.IRC_OPER_NAME || generated.ircOperName,
    operPassword: config.IRC_OPER_PASSWORD || generated.ircOperPassword,
    serverPassword: config.IRC_SERVER_PASSWORD || generated.ircServerPassword,
    gatewayPassword: config.IRC_GATEWAY_PASSWORD || generated.ircGatewayPassword,
  };
}

/**
 * The Anope that can be linked to the InspIRCd of this machine, or why it cannot be linked and what to do
 * about it.
 */
export function lookForAnope(find: () => Binary = findAnope): { binary: Binary } | { without: string } {
  try {
    const binary = find();
    anopeModulesDir(binary);
    const missing = missingForServices(installationOf(findInspircd()));
    if (missing.length === 0) return { binary };
    return { without: `InspIRCd lacks the modules ${missing.join(', ')}: install the complete package` };
  } catch (error) {
    return { without: (error as Error).message };
  }
}

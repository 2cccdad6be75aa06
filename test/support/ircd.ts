import { findInspircd } from '../../src/servers/binaries.js';
import { inspircdAnswers, inspircdArgs, writeInspircdFiles } from '../../src/servers/inspircd.js';
import { type InspircdSecrets, inspircdConfig, installationOf } from '../../src/servers/inspircd-config.js';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

/** What InspIRCd prints when it runs without a port that it was told to open. */
export const inspircdFailure = /failed to bind/;

/** A real InspIRCd with the configuration that is used in production, and the credentials of its bots. */
export interface TestIrcd extends ServerProcess, InspircdSecrets {
  readonly gatewayPassword: string;
  readonly url: string;
}

/** What makes a test server another than the usual one. */
export interface TestIrcdOptions {
  /** Added at the end of its configuration. */
  extraConfig?: string;
  /** Nicks that it keeps for the bots. */
  reservedNicks?: readonly string[];
  /** Its name and its three characters in a network of several servers. */
  server?: { name: string; id: string };
}

/** Starts an InspIRCd for one test. */
export async function startIrcd(t: Teardown, options: TestIrcdOptions = {}): Promise<TestIrcd> {
  const binary = findInspircd();
  const secrets = {
    operName: 'chanbot',
    operPassword: 'oper-password',
    serverPassword: 'server-password',
    gatewayPassword: 'gateway-password',
  };
  const server = await startServerProcess(t, {
    name: 'ircd',
    command: binary.path,
    choosePort: freePort,
    args: (dir, port) => {
      const usual = inspircdConfig({
        dir,
        host: '127.0.0.1',
        port,
        secrets,
        installation: installationOf(binary),
        reservedNicks: options.reservedNicks ?? [],
      });
      const text = options.server ? renamed(usual, options.server) : usual;
      return inspircdArgs(writeInspircdFiles(dir, `${text}\n${options.extraConfig ?? ''}\n`));
    },
    answers: inspircdAnswers,
    failure: inspircdFailure,
  });
  const url = `irc://127.0.0.1:${server.port}`;
  return Object.defineProperties(server as TestIrcd, {
    url: { value: url },
    operName: { value: secrets.operName },
    operPassword: { value: secrets.operPassword },
    serverPassword: { value: secrets.serverPassword },
    gatewayPassword: { value: secrets.gatewayPassword },
  });
}

/** Settings of a service whose bots are on that network. */
export const settingsOf = (
  ircd: Pick<TestIrcd, 'url' | 'operName' | 'operPassword' | 'serverPassword'>,
): Record<string, string> => ({
  IRC_URL: ircd.url,
  IRC_OPER_NAME: ircd.operName,
  IRC_OPER_PASSWORD: ircd.operPassword,
  IRC_SERVER_PASSWORD: ircd.serverPassword,
});

function renamed(config: string, { name, id }: NonNullable<TestIrcdOptions['server']>): string {
  return config.replace(
    /^<server .*>$/m,
    `<server name="${name}" description="Relay Network" network="Relay" id="${id}">`,
  );
}

import { entryOf } from '../../../projections/directory/queries.js';
import { isExpected } from '../../../streams/core/index.js';
import { Screening } from '../../../streams/moderation/index.js';
import { publicFetch } from '../../../workers/core/public-fetch.js';
import {
  AgentCards,
  AgentEntries,
  abilitiesHelp,
  answerAbilities,
} from '../../../workers/directory/index.js';
import type { OtherCommand } from '../../../workers/identity/index.js';
import { botNicks } from '../../config/bot-nicks.js';
import { nobody } from '../../operations/core/call.js';
import { agentsAmong, type DirectoryParts, walletBehind } from '../../operations/directory/index.js';
import { getLinkOfNick, listStandings } from '../../operations/identity/links.js';
import { listPresence } from '../../operations/network/reads.js';
import { listAgentStandings } from '../../operations/reputation/index.js';
import type { Area, AreaParts } from './area.js';

/** What agents can do: their entries, by HTTP and MCP, and what the identity bot answers about them. */
export function directoryArea({ config, log, readModels, call }: AreaParts): Area & {
  commands: Readonly<Record<string, OtherCommand>>;
  /** Which of some nicks (casefolded) are of a group of agents. */
  among(nicks: readonly string[], group: { ability: string; level: number }): Promise<string[]>;
} {
  const walletOf = async (nick: string) => {
    try {
      return walletBehind(await call(getLinkOfNick, { nick }, nobody));
    } catch (error) {
      if (isExpected(error) && error.status === 404) return null;
      throw error;
    }
  };
  const thresholds = config.GUARDIAN_THRESHOLDS;
  const entries = new AgentEntries({ log, thresholds, bots: botNicks(config), walletOf });
  const directory: DirectoryParts['directory'] = {
    entries,
    cards: new AgentCards({ fetch: publicFetch(), thresholds: config.GUARDIAN_THRESHOLDS }),
    linksOf: (nicks) => call(listStandings, { nicks }, nobody),
    reputationsOf: (nicks) => call(listAgentStandings, { nicks }, nobody),
    presenceOf: (nicks, caller) => call(listPresence, { nicks }, caller),
    screen: (text) => new Screening(config.GUARDIAN_THRESHOLDS).screen(text),
  };
  const ownEntry = async (nick: string) => {
    const { position } = entries;
    const entry = await readModels.read(
      'agent_directory',
      (sql, schema) => entryOf(sql, schema, nick),
      position,
    );
    return entry && entry.wallet === (await walletOf(nick)) ? entry : undefined;
  };
  return {
    parts: { directory },
    among: (nicks, group) => agentsAmong(nicks, group, { readModels, directory }),
    commands: {
      ABILITIES: {
        help: abilitiesHelp,
        answer: (caller, text) => answerAbilities(caller, text, { entries, entryOf: ownEntry }),
      },
    },
  };
}

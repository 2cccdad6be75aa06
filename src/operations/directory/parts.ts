import { type Entry, entriesAmong, entryOf } from '../../../projections/directory/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import { walletKey } from '../../../streams/identity/index.js';
import { cleanText } from '../../../streams/irc-grammar.js';
import type { AgentCards, AgentEntries } from '../../../workers/directory/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { Caller } from '../core/caller.js';

/** The link of a nick, as far as it decides whose an entry is. */
export interface NickLink {
  nick: string;
  wallet_address: string;
  level: 0 | 1 | 2 | 3;
}

/** The reputation of a nick; `score` is 0 to 100. */
interface NickReputation {
  nick: string;
  score: number;
  /** null without feedback. */
  avg_score: number | null;
  total_feedback: number;
}

/**
 * What the operations of the directory work with. Nicks are casefolded. Nicks without any data are left out
 * of the answers.
 */
export interface DirectoryParts {
  readModels: ReadModels;
  directory: {
    entries: AgentEntries;
    cards: AgentCards;
    linksOf(nicks: string[]): Promise<NickLink[]>;
    reputationsOf(nicks: string[]): Promise<NickReputation[]>;
    /** As far as the caller may know. */
    presenceOf(
      nicks: string[],
      caller: Caller,
    ): Promise<{ nick: string; here: boolean; away?: Away | null; last_active: string | null }[]>;
    /** What others are shown of a text: itself, or that it was withheld as an attack on them. */
    screen(text: string): string;
  };
}

/** That somebody says that it is away, since then (ISO 8601). */
interface Away {
  since: string;
  message: string;
}

/**
 * Where somebody is: in a channel now, there but away by its own word, not there but seen in the last 30 days, or not seen
 * at all.
 */
export const presences = ['here', 'away', 'gone', 'unseen'] as const;
export type Presence = (typeof presences)[number];

/** An entry, and what others know of its agent. */
export interface KnownAgent extends Omit<Entry, 'wallet'> {
  level: 0 | 1 | 2 | 3;
  reputation: Omit<NickReputation, 'nick'>;
  presence: Presence;
  away: Away | null;
  last_active: string | null;
}

/** What the wanted agents must have. */
export interface Wanted {
  level?: number | undefined;
  min_reputation?: number | undefined;
  presence?: Presence | undefined;
}

/** The wallet of a link that the nick itself has made or confirmed, in lower case; null without one. */
export const walletBehind = (link: Omit<NickLink, 'nick'> | undefined): string | null =>
  link && link.level > 0 ? walletKey(link.wallet_address) : null;

/**
 * The agents of entries that have what is wanted, as the caller may know them. An entry is left out if its
 * nick is linked to another wallet now than when it was published: somebody else may have the nick.
 */
export async function knownAgents(
  entries: readonly Entry[],
  { level = 0, min_reputation = 0, presence }: Wanted,
  caller: Caller,
  { directory }: DirectoryParts,
): Promise<KnownAgent[]> {
  if (entries.length === 0) return [];
  const links = byNick(await directory.linksOf(entries.map(({ nick }) => nick)));
  const own = entries.filter((entry) => isOwn(entry, links.get(entry.nick), level));
  if (own.length === 0) return [];
  const nicks = own.map(({ nick }) => nick);
  const [reputations, seen] = await Promise.all([
    directory.reputationsOf(nicks).then(byNick),
    directory.presenceOf(nicks, caller).then(byNick),
  ]);
  const agents = own.map(({ wallet: _, ...entry }): KnownAgent => {
    const { nick: __, ...reputation } = reputations.get(entry.nick) ?? unrated;
    const sighting = seen.get(entry.nick);
    const away = sighting?.here ? sighting.away : undefined;
    return {
      ...entry,
      level: links.get(entry.nick)?.level ?? 0,
      reputation,
      presence: !sighting ? 'unseen' : away ? 'away' : sighting.here ? 'here' : 'gone',
      away: away ? { since: away.since, message: directory.screen(cleanText(away.message)) } : null,
      last_active: sighting?.last_active ?? null,
    };
  });
  return agents.filter(
    (agent) =>
      agent.reputation.score >= min_reputation && (presence === undefined || agent.presence === presence),
  );
}

/** Links that are looked up together. */
const linksAtOnce = 100;

/** Which of some nicks (casefolded) have an ability and a level of identity at least. */
export async function agentsAmong(
  nicks: readonly string[],
  { ability, level }: { ability: string; level: number },
  { readModels, directory }: DirectoryParts,
): Promise<string[]> {
  const entries = await readModels.read(
    'agent_directory',
    (sql, schema) => entriesAmong(sql, schema, ability, nicks),
    directory.entries.position,
  );
  const found: string[] = [];
  for (let from = 0; from < entries.length; from += linksAtOnce) {
    const some = entries.slice(from, from + linksAtOnce);
    const links = byNick(await directory.linksOf(some.map(({ nick }) => nick)));
    found.push(...some.filter((entry) => isOwn(entry, links.get(entry.nick), level)).map(({ nick }) => nick));
  }
  return found;
}

/** Whether an entry is still that of its nick, which has this level at least. */
const isOwn = ({ wallet }: Entry, link: NickLink | undefined, level: number): boolean =>
  wallet === walletBehind(link) && (link?.level ?? 0) >= level;

/** The agent of a nick (casefolded). Throws a 404 if it has no entry of its own. */
export async function requireAgent(nick: string, caller: Caller, parts: DirectoryParts): Promise<KnownAgent> {
  const { readModels, directory } = parts;
  const { position } = directory.entries;
  const entry = await readModels.read(
    'agent_directory',
    (sql, schema) => entryOf(sql, schema, nick),
    position,
  );
  const [agent] = await knownAgents(entry ? [entry] : [], {}, caller, parts);
  if (!agent) throw new Refusal('entry_not_found');
  return agent;
}

const unrated = { nick: '', score: 0, avg_score: null, total_feedback: 0 };

const byNick = <One extends { nick: string }>(some: readonly One[]): Map<string, One> =>
  new Map(some.map((one) => [one.nick, one]));

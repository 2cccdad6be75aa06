import type { IdentityLink } from '../../projections/identity/queries.js';
import { isExpected, Refusal, type Unavailable } from '../../streams/core/index.js';
import { isSignature, isWalletAddress } from '../../streams/identity/index.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import { notIdentified } from '../irc/nick-account.js';
import type { IdentityRegistry } from './registry.js';

/** Somebody who writes to the bot. */
export interface Caller {
  /** As shown. */
  nick: string;
  /** Whether the nick is theirs by the word of the nick service; asked only where it matters. */
  isIdentified(): Promise<boolean>;
  /** Who it is, whatever the nick: the account, else the host. */
  person(): Promise<string>;
}

/** A command of another slice that the bot answers too: how `HELP` shows it, and its answer to the text after its word. */
export interface OtherCommand {
  help: string;
  answer(caller: Caller, text: string): Promise<string>;
}

/** Counts what somebody does in a time. */
export interface Counter {
  take(who: string): Promise<{ allowed: boolean; resetSec: number }>;
  giveBack(who: string): Promise<void>;
}

/** What commands work with. */
export interface CommandContext {
  registry: IdentityRegistry;
  /** The commands of other parts, each under its word in capitals. */
  others: Readonly<Record<string, OtherCommand>>;
  /** Counts the links that a nick makes and ends in an hour: each is on record for good. */
  changes: { readonly most: number } & Pick<Counter, 'take'>;
  /** Count what people try with `VERIFY`. By person: who wears a nick of somebody else does not lock its owner out. */
  attempts: { challenges: Pick<Counter, 'take'>; signatures: Counter };
  /** The link of a nick (casefolded), with what was written here so far. */
  linkOf(nick: string): Promise<IdentityLink | undefined>;
}

type Command = (caller: Caller, argument: string, context: CommandContext) => Promise<string>;
type Others = CommandContext['others'];

const levelNames = ['anonymous', 'linked', 'verified', 'registered'] as const;

const helpOf = (others: Others) =>
  [
    'LINK <address> | VERIFY (a text to sign) | VERIFY <signature> | UNLINK | WHOAMI | INFO <nick>',
    ...Object.values(others).map(({ help }) => help),
    'HELP',
  ].join(' | ');

const commands: Record<string, Command> = {
  LINK: async (caller, address, { registry, changes }) => {
    if (!isWalletAddress(address)) return 'LINK <address>: an address is 0x and 40 hexadecimal digits';
    if (!(await caller.isIdentified())) return notIdentified;
    await count(caller, changes);
    const { fact } = await registry.link(casefold(caller.nick), address, true, asking(caller));
    if (!fact) return `${caller.nick} is linked with ${address} already`;
    return fact.type === 'identity.confirmed'
      ? `${caller.nick} is confirmed as linked with ${address}`
      : `${caller.nick} is linked with ${address}. VERIFY proves the wallet`;
  },
  VERIFY: async (caller, signature, { registry, attempts }) => {
    const nick = casefold(caller.nick);
    const person = await caller.person();
    if (signature === '') {
      const count = async () => refuseTooMany(await attempts.challenges.take(person));
      const { challenge } = await registry.challenge(nick, asking(caller), count);
      return `Sign this text with the wallet (personal_sign) within 30 minutes, then VERIFY <signature>: ${challenge}`;
    }
    if (!isSignature(signature)) return 'VERIFY <signature>: a signature is 0x and 130 hexadecimal digits';
    // taken before the check, which is what costs: many at once are no more than their number
    refuseTooMany(await attempts.signatures.take(person));
    let isWrong = false;
    const verified = registry.verify(nick, signature, asking(caller)).catch((error) => {
      isWrong = isWrongSignature(error);
      throw error;
    });
    const { walletAddress, agentId, identified } = await verified.finally(async () => {
      // what cannot be given back now is missing for some minutes, and nothing else
      if (!isWrong) await attempts.signatures.giveBack(person).catch(() => {});
    });
    const confirm = identified ? '' : `. LINK ${walletAddress} confirms that the nick is yours`;
    return `${caller.nick} is verified as ${walletAddress}${agentOf(agentId)}${confirm}`;
  },
  UNLINK: async (caller, _, { registry, changes }) => {
    if (!(await caller.isIdentified())) return notIdentified;
    await count(caller, changes);
    await registry.unlink(casefold(caller.nick), asking(caller));
    return `${caller.nick} is linked no more`;
  },
  WHOAMI: async (caller, _, context) => await describe(caller.nick, context),
  INFO: async (_, nick, context) =>
    isNick(nick) ? await describe(nick, context) : 'INFO <nick>: that is no nick',
  HELP: async (_caller, _argument, { others }) => helpOf(others),
};

/** Carries out one line of a private message and gives back the one line of answer to it. */
export async function answerTo(caller: Caller, text: string, context: CommandContext): Promise<string> {
  const [said = '', argument = ''] = text.trim().split(/\s+/);
  const word = said.toUpperCase();
  const { others } = context;
  try {
    if (Object.hasOwn(others, word))
      return await others[word]!.answer(caller, text.trim().slice(said.length).trim());
    const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (!command) return `I do not know that command: ${helpOf(others)}`;
    return await command(caller, argument, context);
  } catch (error) {
    if (isExpected(error)) return wordsOf(error);
    throw error;
  }
}

/** Throws 429 `rate_limited` for who has linked and unlinked too often in this hour. */
async function count(caller: Caller, changes: CommandContext['changes']): Promise<void> {
  const { allowed, resetSec } = await changes.take(casefold(caller.nick));
  if (!allowed)
    throw new Refusal('rate_limited', `A nick links and unlinks ${changes.most} times an hour`, {
      retryAfter: resetSec,
    });
}

const asking = ({ nick }: Caller) => ({ by: nick });

function refuseTooMany({ allowed, resetSec }: { allowed: boolean; resetSec: number }): void {
  if (!allowed) throw new Refusal('rate_limited', 'Too many attempts to verify', { retryAfter: resetSec });
}

const isWrongSignature = ({ code }: { code?: unknown }): boolean =>
  code === 'signature_invalid' || code === 'wallet_mismatch';

function wordsOf(error: Refusal | Unavailable): string {
  const seconds = error.kind === 'refusal' ? error.extra.retryAfter : undefined;
  if (seconds !== undefined) return `${error.message}: again in ${Math.ceil(seconds / 60)} min`;
  if (error.kind === 'unavailable') return 'That cannot be done now: try again in a minute';
  if (error.code === 'wallet_not_linked') return `${error.message}: LINK <address> links one`;
  return error.code === 'challenge_missing' || error.code === 'challenge_expired'
    ? `${error.message}: VERIFY gives a new one`
    : error.message;
}

const agentOf = (agentId: number | null) => (agentId === null ? '' : `, agent ${agentId}`);

async function describe(nick: string, { linkOf }: CommandContext): Promise<string> {
  const link = await linkOf(casefold(nick));
  if (!link) return `${nick}: no wallet linked, level 0 (${levelNames[0]})`;
  const { wallet_address, verified, level, agent_id, linked_at } = link;
  const proof = verified ? 'verified' : 'not verified';
  const since = linked_at.slice(0, 10);
  return `${nick}: ${wallet_address} since ${since}, ${proof}, level ${level} (${levelNames[level]})${agentOf(agent_id)}`;
}

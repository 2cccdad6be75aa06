import { isExpected } from '../../streams/core/index.js';
import { type Claimant, shownId, type Task, type TaskMarket, taskLine } from './tasks.js';

/** Who gives a command. */
export interface Asker {
  /** As shown. */
  nick: string;
  /** Whether the sender owns the nick, according to the nick service. */
  isIdentified(): Promise<boolean>;
  /** The wallet that is linked to the nick, and the level of the link; `undefined` without a link. */
  link(): Promise<{ wallet: string; level: number } | undefined>;
}

/** What the commands work with. */
export interface TaskCommandContext {
  /** `undefined` if no marketplace is configured. */
  market: TaskMarket | undefined;
  /** Nick of the bot that links wallets. */
  identityBot: string;
  /** Checks free text before it is shown. Answers what to show instead. */
  screen(text: string): string;
}

type Command = (
  asker: Asker,
  argument: string,
  market: TaskMarket,
  context: TaskCommandContext,
) => Promise<string[]>;

/** Tasks that one answer shows. */
const shownAtOnce = 5;
/** The form of an id: nothing that the marketplace could take for a part of a path. */
const idPattern = /^(?!\.{1,2}$)[\w.~:@-]{4,128}$/;
const claimLevel = 1;

const help =
  '/tasks (what can be taken now) | /tasks --near <city> | /status <id> | /claim <id> | /help. ' +
  'Send them to me, or write them in the channel of a city or a category. I answer you alone';

const commands: Record<string, Command> = {
  tasks: async (_, argument, market, { screen }) => {
    const near = /^--near\s+(\S.*)$/i.exec(argument)?.[1]?.trim().toLowerCase();
    if (argument !== '' && near === undefined) return ['/tasks, or /tasks --near <city>'];
    const open = (await market.open()).filter(({ place }) => !near || place?.toLowerCase().includes(near));
    if (open.length === 0)
      return [near ? 'No task there can be taken now. /tasks shows all of them' : 'No task can be taken now'];
    const shown = open.slice(0, shownAtOnce).map((task) => taskLine(task, screen));
    const more = open.length - shown.length;
    return more > 0 ? [...shown, `and ${more} more: GET /em/tasks/available has them all`] : shown;
  },
  status: async (_, id, market, { screen }) => {
    const task = await find(market, id, '/status');
    return [typeof task === 'string' ? task : taskLine(task, screen)];
  },
  claim: async (asker, id, market, context) => {
    const missing = await whatIsMissing(asker, context);
    if (Array.isArray(missing)) return missing;
    const task = await find(market, id, '/claim');
    if (typeof task === 'string') return [task];
    await market.claim(task.id, missing);
    return [`You have applied for ${shownId(task.id)}. /status ${shownId(task.id)} tells its state`];
  },
};

/** The command in a line; `undefined` without one. In private its slash may be left out. */
export function taskCommandIn(text: string, isPrivate: boolean): string | undefined {
  if (/^\/(?:tasks|status|claim|help)(?:\s|$)/i.test(text)) return text;
  return isPrivate ? text : undefined;
}

/** Carries out a command and answers the lines of the answer. */
export async function answerToTaskCommand(
  asker: Asker,
  text: string,
  context: TaskCommandContext,
): Promise<string[]> {
  const [, word = '', argument = ''] = /^\/?(\S*)\s*(.*)$/s.exec(text) ?? [];
  const name = word.toLowerCase();
  if (name === 'help') return [context.market ? help : notConfigured];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return [`I do not know that command. ${context.market ? help : notConfigured}`];
  if (!context.market) return [notConfigured];
  try {
    return await command(asker, argument.trim(), context.market, context);
  } catch (error) {
    if (!isExpected(error)) throw error;
    const { hint } = error.extra;
    // in the marketplace's words, which are somebody else's text
    return [`/${name}: ${context.screen([error.message, hint].filter(Boolean).join('. '))}`];
  }
}

const notConfigured =
  'No marketplace is connected to this network, so /tasks, /status and /claim do nothing here. The operator connects one with EM_URL';

/** All that a claim lacks, or the claimant. */
async function whatIsMissing(
  asker: Asker,
  { identityBot }: TaskCommandContext,
): Promise<string[] | Claimant> {
  const [isIdentified, link] = await Promise.all([asker.isIdentified(), asker.link()]);
  const isLinked = link !== undefined && link.level >= claimLevel;
  if (isIdentified && isLinked) return { nick: asker.nick, wallet: link.wallet };
  const missing = ['A claim needs a nick that is yours and a wallet that is linked with it.'];
  if (!isIdentified)
    missing.push(
      'The nick service does not know you by this nick: identify with it (/msg NickServ IDENTIFY <password>).',
    );
  if (!isLinked) missing.push(`No wallet is linked with ${asker.nick}: /msg ${identityBot} LINK <address>.`);
  missing.push('Then claim again');
  return [missing.join(' ')];
}

/** The one task with this id, or beginning of an id; or why it was not found. */
async function find(market: TaskMarket, id: string, command: string): Promise<Task | string> {
  if (!idPattern.test(id)) return `Name the task by its id, as lines show it: ${command} a1b2c3d4`;
  const open = (await market.open()).filter((task) => task.id.startsWith(id));
  const exact = open.find((task) => task.id === id);
  if (exact ?? open.length === 1) return exact ?? open[0]!;
  if (open.length > 1) return `More than one task has an id that begins with ${id}: give more of it`;
  return (await market.task(id)) ?? `The marketplace knows no task ${id}. /tasks shows what can be taken now`;
}

import type { ServiceName } from './operation.js';

/** State of a bot's connection. */
export interface IrcState {
  connected: boolean;
  oper: boolean;
  nick: string;
  /** What keeps it from its work, in words; null or absent while nothing does. */
  trouble?: string | null;
}

/**
 * State of the bridge's own connection; `since` is when it was registered, in milliseconds since 1970, `network` how
 * large the whole network is, where that is known.
 */
export interface RecorderState extends IrcState {
  since: number | null;
  network?: { users: number; channels: number } | null;
}

/** What keeps bots from their work, for people who read health; nothing while nothing does. `undefined`: no process has the bot. */
export function troubleView(...bots: readonly (IrcState | undefined)[]): { reason?: string } {
  const troubles = bots.flatMap((bot) => {
    if (!bot) return ['no process has the bot'];
    return bot.trouble ? [`${bot.nick}: ${bot.trouble}`] : [];
  });
  return troubles.length > 0 ? { reason: troubles.join('; ') } : {};
}

/** A bot's state as health answers it, also where no process has the bot. */
export function ircStateView(
  bot: IrcState | undefined,
): Pick<IrcState, 'connected' | 'oper'> & { nick: string | null } {
  const { connected = false, oper = false, nick = null } = bot ?? {};
  return { connected, oper, nick };
}

/** How long the health of one service may take, in milliseconds. */
export const healthCheckMs = 3_000;

/** Where the health of a service that runs elsewhere is. */
export const healthOf = <Name extends ServiceName>(service: Name) =>
  ({ service, method: 'get', path: '/health', timeoutMs: healthCheckMs }) as const;

/** How many whole seconds have passed since something started. */
export const secondsSince = (startedAt: Date): number =>
  Math.round((Date.now() - startedAt.getTime()) / 1_000);

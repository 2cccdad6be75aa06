/** State of a bot's connection. */
export interface IrcState {
  connected: boolean;
  oper: boolean;
  nick: string;
}

/** State of the bridge's own connection; `since` is when it was registered, in milliseconds since 1970. */
export interface RecorderState extends IrcState {
  since: number | null;
}

/** A bot's state as health answers it. */
export function ircStateView({ connected, oper, nick }: IrcState): IrcState {
  return { connected, oper, nick };
}

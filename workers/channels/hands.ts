import { Unavailable } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Hands } from '../irc/hands.js';
import { maxForced, openingModes } from '../irc/join.js';
import type { Session } from '../irc/session.js';
import { inLines } from './lookups.js';
import { voiceWhoCame } from './voices.js';

/**
 * Does for our other bots what only an IRC operator can do. `current` is the session of the channel bot. Nicks are given
 * to nobody but `bots`, because whoever has the nick is disconnected.
 */
export function handsOf(current: () => Session | undefined, bots: readonly string[]): Hands {
  const isOurs = (nick: string) => bots.some((bot) => casefold(bot) === casefold(nick));

  /** Does something as an operator; `false` on a network that has not made us one. */
  async function ruled<T>(work: (session: Session) => Promise<T>): Promise<T | false> {
    const session = current();
    if (!session || session.lost.aborted) throw new Unavailable('irc_unavailable');
    return session.oper ? await work(session) : false;
  }

  /** The same where the server has commands to force something; whether it has. */
  const forced = (work: (session: Session) => Promise<unknown>) =>
    ruled(async (session) => {
      if (session.forces) await work(session);
      return session.forces;
    });

  return {
    giveNick: async ({ session: from, nick }) => {
      if (!isOurs(nick)) return false;
      return await ruled(async (session) => {
        const isAnother = casefold(from) !== casefold(nick);
        const killed = isAnother && (await session.ask('KILL', nick, 'Superseded by a newer session'));
        if (session.forces) await session.ask('SANICK', from, nick);
        return killed && killed.error === null ? 'freed' : 'taken';
      });
    },
    letIn: ({ nick, channels }) =>
      forced(async (session) => {
        const lists = inLines(channels, ',', maxForced);
        const answers = await Promise.all(lists.map((names) => session.ask('SAJOIN', nick, names)));
        // whoever is let in is seen to come in the answer alone
        for (const line of answers.flatMap(({ lines }) => lines)) voiceWhoCame(session, line, bots);
      }),
    letSpeak: ({ nick, channel, isNew }) =>
      forced((session) => {
        const { channelModes } = session.modeNames;
        return session.ask('SAMODE', channel, ...(isNew ? openingModes(channelModes, nick) : ['+v', nick]));
      }),
  };
}

import type { Logger } from 'pino';
import { boundedCache, isExpected, type Log, Refusal } from '../../streams/core/index.js';
import { casefold, cleanText, cutToCharacters, isNick } from '../../streams/irc-grammar.js';
import {
  isIncidentOf,
  isPrivateIncident,
  moderation,
  personDecider,
} from '../../streams/moderation/index.js';
import type { IrcConnection } from '../irc/connection.js';
import type { IrcLine } from '../irc/line.js';

/** Characters of a reason. */
const longestReason = 300;
/** Answers to one host in a minute; what comes beyond is not read. */
const perMinute = 5;
const minuteMs = 60_000;

/** Has a bot take `APPEAL <id> <reason>` by private message, from the person concerned alone; each is answered by one notice. */
export function takeAppeals(irc: IrcConnection, { log, logger }: { log: Log; logger: Logger }): void {
  const asked = boundedCache<string, { count: number }>(10_000, { ttl: minuteMs });
  const answer = async (line: IrcLine, [id = '', reason = '']: string[]): Promise<void> => {
    const text = await appeal(log, line, Number(id), reason).catch((error: unknown) => {
      if (!isExpected(error)) throw error;
      return error.kind === 'refusal' ? error.message : 'That cannot be done now: try again in a minute';
    });
    await irc.session()?.command('NOTICE', line.nick, text);
  };
  irc.on('line', (line) => {
    const [target = '', text = ''] = line.params;
    if (line.command !== 'PRIVMSG' || !isNick(line.nick)) return;
    const found = /^appeal\s+#?(\d{1,15})(?:[\s,:]+(.*))?$/i.exec(text.trim());
    if (!found || casefold(target) !== casefold(irc.status().nick)) return;
    const counted = asked.get(line.hostname) ?? { count: 0 };
    asked.set(line.hostname, counted);
    if (++counted.count > perMinute) return;
    answer(line, found.slice(1)).catch((error: unknown) =>
      logger.warn({ nick: line.nick, err: error }, 'an appeal cannot be answered'),
    );
  });
}

async function appeal(log: Log, line: IrcLine, id: number, reason: string): Promise<string> {
  const { nick, ident, hostname, tags } = line;
  const recorded = await log.at(moderation, id);
  const absent = () => new Refusal('moderation_incident_not_found', `There is no incident ${id}`);
  if (recorded?.type !== 'incident.recorded') throw absent();
  const { account } = tags ?? {};
  const seen = { nick, host: `${ident}@${hostname}`, ...(account ? { account } : {}) };
  if (!isIncidentOf(recorded.data, seen)) {
    // nobody else is told that there is one
    throw isPrivateIncident(recorded.data) ? absent() : new Refusal('not_your_incident');
  }
  const said = cutToCharacters(cleanText(reason), longestReason);
  const command = { is: 'appeal' as const, subject: recorded.subject, ref: recorded.data.ref, reason: said };
  const { fact } = await log.handle(moderation, personDecider, command, { by: nick });
  return fact
    ? `Your appeal against incident ${id} is recorded: you will hear of it here`
    : `You have appealed against incident ${id} already`;
}

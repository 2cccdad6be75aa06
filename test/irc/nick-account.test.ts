import t from 'tap';
import { parseLine } from '../../workers/irc/line.js';
import { isIdentified } from '../../workers/irc/nick-account.js';
import type { Session } from '../../workers/irc/session.js';

/** A session on a server that answers WHOIS with these numerics, and puts accounts on messages or does not. */
function sessionWith(tagsAccounts: boolean, ...numerics: string[]): { session: Session; asked: string[] } {
  const asked: string[] = [];
  const command = async (...parts: string[]) => {
    asked.push(parts.join(' '));
    return { is: 'answered', lines: numerics.map((line) => parseLine(`:irc.test ${line}`)), error: null };
  };
  const isAmbiguous = (nick: string) => nick.includes('{');
  return { session: { tagsAccounts, command, isAmbiguous } as unknown as Session, asked };
}

const user = '311 mrserv Alice alice host.test * :Alice';
const registered = '307 mrserv Alice :is a registered nick';
const loggedIn = (account: string) => `330 mrserv Alice ${account} :is logged in as`;
const message = (account?: string) =>
  parseLine(`${account ? `@account=${account} ` : ''}:Alice!alice@host.test PRIVMSG mrserv :LINK 0x`);

t.test('IDENT-12 a server that puts accounts on messages is not asked', async (t) => {
  const { session, asked } = sessionWith(true, user, registered, loggedIn('alice'));
  t.equal(await isIdentified(session, message('alice')), true);
  t.equal(await isIdentified(session, message('ALICE')), true);
  t.equal(await isIdentified(session, message('mallory')), false);
  t.equal(await isIdentified(session, message()), false);
  t.same(asked, []);
});

t.test('IDENT-12 a server that does not is asked', async (t) => {
  const is = async (...numerics: string[]) => {
    const { session, asked } = sessionWith(false, ...numerics);
    const answer = await isIdentified(session, message());
    t.same(asked, ['WHOIS Alice']);
    return answer;
  };
  t.equal(await is(user, loggedIn('alice')), true);
  t.equal(await is(user, registered), true, 'nothing is known of accounts');
  t.equal(await is(user, registered, loggedIn('mallory')), false, 'the mark of another nick');
  t.equal(await is(user, loggedIn('mallory')), false);
  t.equal(await is(user), false);
  t.equal(await is(), false);
});

t.test('IDENT-31 nobody is known by a nick that two people of the network may have', async (t) => {
  const ambiguous = parseLine('@account=al{ce :al{ce!alice@host.test PRIVMSG mrserv :LINK 0x');
  for (const tagsAccounts of [true, false]) {
    const { session } = sessionWith(
      tagsAccounts,
      '311 mrserv al{ce alice host.test * :A',
      '330 mrserv al{ce al{ce :is',
    );
    t.equal(await isIdentified(session, ambiguous), false);
  }
});

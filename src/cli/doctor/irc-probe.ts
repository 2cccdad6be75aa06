import { IrcConnection } from '../irc/connection.js';

const registerMs = 10_000;
const answerMs = 5_000;
const problems = {
  lost: (error: Error) => error,
  silent: (what: string, ms: number) => new Error(`it did not send ${what} within ${ms / 1_000} s`),
};

/** A short visit to an IRC server, to ask what it can do. It joins nothing and says nothing to anybody. */
export class IrcProbe {
  /** Capabilities that the server offers. */
  readonly capabilities = new Set<string>();
  /** The server's properties from its 005 lines, by name. */
  readonly supports = new Map<string, string>();
  readonly #connection: IrcConnection;

  private constructor(connection: IrcConnection) {
    this.#connection = connection;
  }

  /** Connects and registers. Rejects with the socket's error, or with the server's own text. */
  static async visit(
    url: string,
    nick: string,
    { password, ca }: { password: string; ca: string | undefined },
  ): Promise<IrcProbe> {
    const connection = new IrcConnection(url, problems, ca);
    const probe = new IrcProbe(connection);
    const registered = connection.until('its welcome', registerMs, ({ command, parameters }) => {
      if (command === 'CAP' && parameters[1] === 'LS') probe.#offers(parameters.at(-1) ?? '');
      if (command === '005') probe.#says(parameters.slice(1, -1));
      if (command === 'ERROR' || command === '464' || command === '465') throw new Error(parameters.at(-1));
      return command === '376' || command === '422' || undefined; // the end of the message of the day
    });
    connection.send('CAP LS 302', ...(password ? [`PASS :${password}`] : []), `NICK ${nick}`);
    connection.send(`USER ${nick} 0 * :looks whether all is well`, 'CAP END');
    await registered.catch((error) => {
      connection.close();
      throw error;
    });
    return probe;
  }

  /** The holder of a nick, as user@host; `undefined` for nobody. */
  async whoHas(nick: string): Promise<string | undefined> {
    let found: string | undefined;
    this.#connection.send(`WHOIS ${nick}`);
    await this.#connection.until('who has a nick', answerMs, ({ command, parameters: [, , user, host] }) => {
      if (command === '311') found = `${user}@${host}`;
      return command === '318' || undefined;
    });
    return found;
  }

  /** Becomes an operator. Resolves with the server's refusal, or with `undefined` on success. */
  async oper(name: string, password: string): Promise<string | undefined> {
    this.#connection.send(`OPER ${name} :${password}`);
    const answer = ({ command, parameters }: { command: string; parameters: string[] }) => {
      if (command === '381') return { refusal: undefined };
      return ['464', '491', '481'].includes(command) ? { refusal: parameters.at(-1) } : undefined;
    };
    return (await this.#connection.until('an answer to OPER', answerMs, answer)).refusal;
  }

  /** The last day of the server's certificate; `undefined` without TLS. */
  get certificateEnds(): Date | undefined {
    return this.#connection.certificateEnds;
  }

  leave(): void {
    this.#connection.close();
  }

  #offers(text: string): void {
    for (const word of text.split(' ')) if (word) this.capabilities.add(word.split('=')[0]!);
  }

  #says(tokens: string[]): void {
    for (const token of tokens) {
      const [name = '', value = ''] = token.split('=');
      this.supports.set(name, value);
    }
  }
}

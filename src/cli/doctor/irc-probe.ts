import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { serverAddress } from '../../../workers/irc/transport.js';

const registerMs = 10_000;
const answerMs = 5_000;

/** One line from the server: its command or numeric, and its parameters. */
type Line = [command: string, ...parameters: string[]];

/** A short visit to an IRC server that asks what it can do. It joins nothing and says nothing to anybody. */
export class IrcProbe {
  /** Capabilities that the server offers. */
  readonly capabilities = new Set<string>();
  /** What it says of itself in its 005 lines, by name. */
  readonly supports = new Map<string, string>();
  readonly #socket: Socket;
  readonly #listeners = new Set<(line: Line) => void>();
  #rest = '';
  #lost: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', (error) => this.#lose(error));
    socket.on('close', () => this.#lose(new Error('the server closed the connection')));
  }

  /** Connects and registers. Rejects with the socket's error, or with the server's own word. */
  static async visit(
    url: string,
    nick: string,
    secrets: { password: string; ca: string | undefined },
  ): Promise<IrcProbe> {
    const { host, port, tls } = serverAddress(url);
    const { password, ca } = secrets;
    const to = { host, port, ...(ca ? { ca } : {}) };
    const probe = new IrcProbe(
      tls ? connectTls({ ...to, ...(isIP(host) ? {} : { servername: host }) }) : connect(to),
    );
    const registered = probe.#until('its welcome', registerMs, ([command, ...parameters]) => {
      if (command === 'CAP' && parameters[1] === 'LS') probe.#offers(parameters.at(-1) ?? '');
      if (command === '005') probe.#says(parameters.slice(1, -1));
      if (command === 'ERROR' || command === '464' || command === '465') throw new Error(parameters.at(-1));
      return command === '376' || command === '422' || undefined; // the end of the message of the day
    });
    probe.#send('CAP LS 302', ...(password ? [`PASS :${password}`] : []), `NICK ${nick}`);
    probe.#send(`USER ${nick} 0 * :looks whether all is well`, 'CAP END');
    await registered.catch((error) => {
      probe.leave();
      throw error;
    });
    return probe;
  }

  /** Who has a nick, as user@host; `undefined` for nobody. */
  async whoHas(nick: string): Promise<string | undefined> {
    let found: string | undefined;
    this.#send(`WHOIS ${nick}`);
    await this.#until('who has a nick', answerMs, ([command, , , user, host]) => {
      if (command === '311') found = `${user}@${host}`;
      return command === '318' || undefined;
    });
    return found;
  }

  /** Becomes an operator; resolves with the server's refusal, or with `undefined` when there was none. */
  async oper(name: string, password: string): Promise<string | undefined> {
    this.#send(`OPER ${name} :${password}`);
    return await this.#until('an answer to OPER', answerMs, ([command, ...parameters]) => {
      if (command === '381') return { refusal: undefined };
      return ['464', '491', '481'].includes(command) ? { refusal: parameters.at(-1) } : undefined;
    }).then(({ refusal }) => refusal);
  }

  /** The last day of the server's certificate; `undefined` without TLS. */
  get certificateEnds(): Date | undefined {
    const socket = this.#socket as Partial<TLSSocket>;
    const ends = socket.getPeerCertificate?.().valid_to;
    return ends === undefined ? undefined : new Date(ends);
  }

  leave(): void {
    if (this.#socket.writable) this.#socket.end('QUIT\r\n');
    setTimeout(() => this.#socket.destroy(), 200).unref();
  }

  #until<T>(what: string, ms: number, take: (line: Line) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | undefined, value?: T) => {
        clearTimeout(timer);
        this.#listeners.delete(listener);
        if (error) reject(error);
        else resolve(value as T);
      };
      const listener = (line: Line) => {
        try {
          if (line[0] === 'lost') throw this.#lost;
          const value = take(line);
          if (value !== undefined) settle(undefined, value);
        } catch (error) {
          settle(error as Error);
        }
      };
      const timer = setTimeout(() => settle(new Error(`it did not send ${what} within ${ms / 1_000} s`)), ms);
      this.#listeners.add(listener);
      if (this.#lost) listener(['lost']);
    });
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

  #send(...lines: string[]): void {
    this.#socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop()!;
    for (const raw of lines) {
      const [, , command = '', rest = ''] = /^(@[^ ]+ )?(?::[^ ]+ )?([^ ]+)(.*)$/.exec(raw) ?? [];
      const [middle = '', ...trailing] = rest.split(' :');
      const parameters = middle.split(' ').filter((word) => word !== '');
      if (trailing.length > 0) parameters.push(trailing.join(' :'));
      if (command === 'PING') this.#send(`PONG :${parameters.at(-1) ?? ''}`);
      for (const listener of [...this.#listeners]) listener([command, ...parameters]);
    }
  }

  #lose(error: Error): void {
    this.#lost ??= error;
    for (const listener of [...this.#listeners]) listener(['lost']);
  }
}

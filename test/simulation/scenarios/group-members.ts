import type { Sql } from '../../../projections/core/sql.js';
import type { ReadModels } from '../../../src/stores/read-models.js';
import { pause, Unavailable } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { World } from '../world.js';

/** A group as it is written: `skill-1+2`. */
export interface Meant {
  ability: string;
  level: number;
}

/** A value from some time on, in milliseconds since 1970. */
interface Since<Value> {
  at: number;
  value: Value;
}

/** Who can do what by the directory, and who is muted, with all that has changed. */
export class GroupMembers {
  /** Until when nothing can be read, in milliseconds since 1970. */
  awayUntil = 0;
  readonly #world: World;
  /** The levels at which nicks are of an ability, by `nick ability`; below 0 without it. */
  readonly #levels = new Map<string, Since<number>[]>();
  /** Whether persons are silenced, by host. */
  readonly #silenced = new Map<string, Since<boolean>[]>();

  constructor(world: World) {
    this.#world = world;
  }

  set(nick: string, ability: string, level: number): void {
    note(this.#levels, `${nick} ${ability}`, { at: this.#world.now, value: level }, -1);
  }

  silence(host: string, value: boolean): void {
    note(this.#silenced, host, { at: this.#world.now, value }, false);
  }

  /** What product code asks of the directory. */
  readonly among = async (nicks: readonly string[], { ability, level }: Meant): Promise<string[]> => {
    await pause(this.#world.random.int(0, 20));
    this.#requireThere();
    const { now } = this.#world;
    return nicks.filter((nick) =>
      isEver(this.#levels.get(`${nick} ${ability}`), now, now, (has) => has >= level),
    );
  };

  /** Whether a nick was of a group at some moment between two times. */
  wasOf(nick: string, { ability, level }: Meant, from: number, to: number): boolean {
    return isEver(this.#levels.get(`${casefold(nick)} ${ability}`), from, to, (has) => has >= level);
  }

  /** Whether it was so at every moment. */
  isOf(nick: string, { ability, level }: Meant, from: number, to: number): boolean {
    const levels = this.#levels.get(`${casefold(nick)} ${ability}`);
    return levels !== undefined && !isEver(levels, from, to, (has) => has < level);
  }

  wasSilenced(host: string, from: number, to: number): boolean {
    return isEver(this.#silenced.get(host), from, to, (is) => is);
  }

  isSilenced(host: string, from: number, to: number): boolean {
    const silenced = this.#silenced.get(host);
    return silenced !== undefined && !isEver(silenced, from, to, (is) => !is);
  }

  /** The read models as the bot is given them: moderation has incidents of those who are silenced. */
  get readModels(): ReadModels {
    const read: ReadModels['read'] = async (name, query) => {
      await pause(this.#world.random.int(0, 20));
      this.#requireThere();
      const rows = (persons: string[]) => {
        const { now } = this.#world;
        const hosts = persons.map((person) => person.replace(/^host /, ''));
        const silenced = hosts.filter((host) => this.wasSilenced(host, now, now));
        return silenced.map((host) => ({ person: `host ${host}`, account: null }));
      };
      const sql = {
        query: async (_: string, params?: unknown[]) =>
          name === 'moderation' ? rows(params![0] as string[]) : [],
      };
      return await query(sql as unknown as Sql, name);
    };
    return { read, readAt: read } as Pick<ReadModels, 'read' | 'readAt'> as ReadModels;
  }

  #requireThere(): void {
    if (this.#world.now < this.awayUntil) throw new Unavailable('read_model_building');
  }
}

function note<Value>(
  all: Map<string, Since<Value>[]>,
  key: string,
  since: Since<Value>,
  before: Value,
): void {
  all.set(key, [...(all.get(key) ?? [{ at: 0, value: before }]), since]);
}

/** Whether something held at some moment between two times, both included. */
export function isEver<Value>(
  values: readonly Since<Value>[] | undefined,
  from: number,
  to: number,
  holds: (value: Value) => boolean,
): boolean {
  return (values ?? []).some(({ at, value }, index) => {
    const end = values![index + 1]?.at ?? Number.POSITIVE_INFINITY;
    return at <= to && end >= from && holds(value);
  });
}

import type { FloorState } from '../../streams/floor/index.js';
import type { Tx } from '../core/sql.js';

/** The floor of a channel, and the fact that changed it last. */
export interface StoredFloor {
  /** Casefolded. */
  channel: string;
  seq: number;
  state: FloorState;
  /** The day, in UTC, of the last fact of the channel. */
  day: string;
}

type Stored = Omit<StoredFloor, 'state'> & { state: string };

/** The floor of a channel (casefolded) as of the last fact; `undefined` where nobody has asked for it. */
export async function floorOf(sql: Tx, schema: string, channel: string): Promise<FloorState | undefined> {
  const [row] = await sql.query<Stored>(`select * from ${schema}.floors where channel = $1`, [channel]);
  return row && floorView(row).state;
}

/** All of them. */
export async function allFloors(sql: Tx, schema: string): Promise<StoredFloor[]> {
  return (await sql.query<Stored>(`select * from ${schema}.floors`)).map(floorView);
}

const floorView = ({ channel, seq, state, day }: Stored): StoredFloor => ({
  channel,
  seq,
  day,
  state: JSON.parse(state) as FloorState,
});

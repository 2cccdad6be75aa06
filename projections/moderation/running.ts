import { casefold } from '../../streams/irc-grammar.js';
import {
  type Action,
  type HeldPattern,
  heldPatterns,
  isIncidentOf,
  lateAfterMs,
  loopPattern,
  newAccountsOf,
  personOf,
} from '../../streams/moderation/index.js';
import type { RowOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { incidentRows } from './fold.js';

/** An incident whose action is not known to have happened, or is in force on the network. */
export interface RunningIncident {
  id: number;
  ref: string;
  subject: string;
  nick: string;
  host: string | null;
  account: string | null;
  channel: string;
  saidAt: Date;
  patterns: string;
  action: Action;
  seconds: number | null;
  mask: string | null;
  /** Voice was taken besides the mask. */
  voice: boolean;
  until: Date | null;
  pardoned: boolean;
}

type StoredIncident = RowOf<typeof incidentRows> & { action: Action };

/** Actions whose outcome is unknown, oldest first. */
export async function unansweredIncidents(
  sql: Tx,
  schema: string,
  limit: number,
): Promise<RunningIncident[]> {
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents
     where outcome is null and action not in ('none', 'withhold') order by id limit $1`,
    [limit],
  );
  return rows.map(runningView);
}

/**
 * Whether somebody who was seen is muted or banned somewhere now, or is about to be; `others` are the persons that they are
 * by another way onto the network.
 */
export async function isSilenced(
  sql: Tx,
  schema: string,
  seen: { nick: string; host?: string | undefined; account?: string | undefined },
  others: readonly string[],
  now: Date,
): Promise<boolean> {
  const ofHost = seen.account && seen.host ? [newAccountsOf(seen.host)] : [];
  const persons = [personOf(seen), ...ofHost, ...others];
  const found = await sql.query<{ person: string; account: string | null }>(
    `select distinct person, account from ${schema}.incidents
     where person = any($1::text[]) and pardoned_at is null and action in ('quiet', 'ban') and lifted_at is null
       and (until > $2 or (outcome is null and said_at > $3))`,
    [persons, now, new Date(now.getTime() - lateAfterMs)],
  );
  return found.some((incident) => others.includes(incident.person) || isIncidentOf(incident, seen));
}

/** How many incidents are looked through for those of an account. */
const lookedThrough = 5_000;

/** The persons on whose record something is that an account (casefolded) did lately: its hosts, while it was new. */
export async function personsOfAccount(sql: Tx, schema: string, account: string): Promise<string[]> {
  const rows = await sql.query<{ person: string; account: string }>(
    `select distinct person, account from (
       select person, account from ${schema}.incidents order by id desc limit $1) as latest
     where account is not null and person is not null`,
    [lookedThrough],
  );
  return rows.filter((row) => casefold(row.account) === account).map(({ person }) => person);
}

/** Mutes and bans of people whose host is known, newest first. */
export async function runningAtHosts(
  sql: Tx,
  schema: string,
  now: Date,
  limit: number,
): Promise<(RunningIncident & { person: string; private: boolean })[]> {
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents
     where until > $1 and lifted_at is null and pardoned_at is null and outcome = 'done' and host is not null
       and patterns <> all($2::text[])
     order by id desc limit $3`,
    [now, [loopPattern, ...heldPatterns], limit],
  );
  return rows.map((row) => ({ ...runningView(row), person: row.person!, private: row.private }));
}

/** What runs for an account because it is new: whose account, and the references of this incident and of the first one. */
export interface ForNewAccount {
  id: number;
  account: string;
  ref: string;
  first: string;
}

/** Mutes and bans that hold for accounts that were registered while they ran, newest first. */
export async function runningForNewAccounts(
  sql: Tx,
  schema: string,
  now: Date,
  limit: number,
): Promise<ForNewAccount[]> {
  return await sql.query<ForNewAccount>(
    `select id, account, ref, ${firstRef('ref')} as first from ${schema}.incidents
     where until > $1 and lifted_at is null and pardoned_at is null and outcome = 'done' and account is not null
       and patterns = $2
     order by id desc limit $3`,
    [now, 'new-account' satisfies HeldPattern, limit],
  );
}

/** The incident that another one keeps in force: its reference comes after the rule and who it is for. */
const firstRef = (ref: string) => `regexp_replace(${ref}, '^[^:]*:[^:]*:', '')`;

/** What must be lifted at `now`, because its time is up or it was pardoned, and the time of the next lift. */
export async function dueLifts(
  sql: Tx,
  schema: string,
  now: Date,
): Promise<{ due: RunningIncident[]; next: Date | undefined }> {
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents as i
     where until is not null and lifted_at is null
       and (until <= $1 or pardoned_at is not null or (patterns = any($2::text[]) and exists (
         select 1 from ${schema}.incidents as earlier
         where earlier.ref in (${firstRef('i.ref')}, ${firstRef(firstRef('i.ref'))})
           and earlier.pardoned_at is not null)))
     order by until limit 500`,
    [now, heldPatterns],
  );
  const [next] = await sql.query<{ until: Date }>(
    `select until from ${schema}.incidents
     where until is not null and lifted_at is null and until > $1 order by until limit 1`,
    [now],
  );
  return { due: rows.map(runningView), next: next?.until };
}

/** A person who was not reached for this long is no longer told of a decision, in milliseconds. */
const toldWithinMs = 30 * 24 * 3_600_000;

/** Incidents with a decision of an operator that the person has not been told yet, oldest first. */
export async function untoldDecisions(
  sql: Tx,
  schema: string,
  now: Date,
  limit: number,
): Promise<(RunningIncident & { person: string })[]> {
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents
     where told_at is null and person is not null and (pardoned_at is not null or upheld_at is not null)
       and greatest(pardoned_at, upheld_at) > $1 and action not in ('none', 'withhold')
     order by id limit $2`,
    [new Date(now.getTime() - toldWithinMs), limit],
  );
  return rows.map((row) => ({ ...runningView(row), person: row.person! }));
}

/** The masks of a channel (casefolded) that were set and not lifted. */
export async function masksInForce(sql: Tx, schema: string, channel: string): Promise<string[]> {
  const rows = await sql.query<{ mask: string }>(
    `select distinct mask from ${schema}.incidents
     where until is not null and lifted_at is null and channel_key = $1 and mask is not null`,
    [channel],
  );
  return rows.map(({ mask }) => mask);
}

/**
 * Whether another action of the same kind keeps the mask in the channel. `yes`: one lasts longer. `perhaps`: one is being done,
 * and nobody knows its mask yet.
 */
export async function isOutlived(
  sql: Tx,
  schema: string,
  { id, channel, action, mask, nick }: RunningIncident,
  now: Date,
): Promise<'yes' | 'perhaps' | 'no'> {
  const [other] = await sql.query<{ known: boolean }>(
    `select outcome is not null as known from ${schema}.incidents
     where lifted_at is null and pardoned_at is null and id <> $2 and channel_key = $3 and action = $4
       and ((until > $1 and mask is not distinct from $5 and ($5::text is not null or nick_key = $6))
         or (outcome is null and action not in ('none', 'withhold') and said_at > $7))
     order by outcome is null limit 1`,
    [now, id, casefold(channel), action, mask, casefold(nick), new Date(now.getTime() - lateAfterMs)],
  );
  if (!other) return 'no';
  return other.known ? 'yes' : 'perhaps';
}

function runningView(row: StoredIncident): RunningIncident {
  const { id, ref, subject, nick, host, account, channel, patterns, action, seconds, mask, until } = row;
  const pardoned = row.pardoned_at !== null;
  const voice = row.voice === true;
  return {
    id,
    ref,
    subject,
    nick,
    host,
    account,
    channel,
    patterns,
    action,
    seconds,
    mask,
    voice,
    until,
    pardoned,
    saidAt: row.said_at,
  };
}

import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { certificateViews } from '../../projections/incidents/certificates.js';
import {
  consensusOn,
  contributionsOf,
  incidentStatistics,
  listIncidents,
  showIncident,
} from '../../projections/incidents/queries.js';
import { incidentRecords } from '../../projections/incidents/tables.js';
import type { CertificateFact } from '../../streams/certificates/index.js';
import type { Recorded } from '../../streams/core/index.js';
import { incidentStatuses, severities } from '../../streams/incidents/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { eachSql } from '../support/sql.js';
import { incidentHistory } from './history.js';

async function fold(sql: Sql, schema: string, streams: Recorded[][], batch: number): Promise<void> {
  await sql.query(`create schema ${schema}; ${incidentRecords.ddl(schema)}`);
  for (const facts of streams) {
    for (let from = 0; from < facts.length; from += batch)
      await sql.transaction((tx) => incidentRecords.apply(tx, facts.slice(from, from + batch), schema));
  }
}

async function everything(sql: Sql, schema: string): Promise<unknown[][]> {
  const tables = ['incidents', 'votes', 'participants', 'counts', 'totals', 'certificates'];
  return await Promise.all(
    tables.map((table) => sql.query(`select * from ${schema}.${table} as row order by row`)),
  );
}

const day = 86_400_000;
const start = Date.UTC(2026, 2, 1);
const iso = (days: number) => new Date(start + days * day).toISOString();

/** Looks at endpoints: one that becomes silent, one that was always, one whose certificate is replaced. */
function looks(): Recorded<CertificateFact>[] {
  const shown = (host: string, validTo: number, distrust: string | null = null) => ({
    host,
    port: 6697,
    error: null,
    certificate: {
      issuer: 'An Authority',
      subject: host,
      valid_from: iso(-60),
      valid_to: iso(validTo),
      distrust,
    },
  });
  const silent = (host: string) => ({ host, port: 6697, certificate: null, error: 'ECONNREFUSED' });
  const found = [
    shown('irc.example', 40),
    silent('gone.example'),
    shown('old.example', -1, 'CERT_HAS_EXPIRED'),
    shown('new.example', 5),
    shown('new.example', 95),
    silent('irc.example'),
  ];
  return found.map((data, index) => ({
    type: 'certificate.checked',
    id: `c${index}`,
    stream: 'CERTIFICATES',
    subject: 'any',
    seq: index + 1,
    at: new Date(start + index * 1_000),
    by: 'test',
    cause: null,
    data: { ...data, checked_at: new Date(start + index * 1_000).toISOString() },
  }));
}

const history = incidentHistory(800);
const reports = history.flatMap(({ type, data, at }) =>
  type === 'incident.reported' ? [{ ...data, at }] : [],
);
const votes = history.flatMap(({ type, data, at }) => (type === 'vote.cast' ? [{ ...data, at }] : []));
const clean = (text: string) => text.replaceAll('\0', '\ufffd');

eachSql(t, async (t, open) => {
  const { sql } = await open();

  t.test('SENTINEL-12 the same rows, in whatever batches', async (t) => {
    let first: unknown[][] | undefined;
    for (const [schema, batch, streams] of [
      ['one_by_one', 1, [history.slice(0, 120), looks()]],
      ['in_sevens', 7, [looks(), history.slice(0, 120)]],
      ['at_once', 1_000, [history.slice(0, 120), looks()]],
    ] as const) {
      await fold(sql, schema, [...streams], batch);
      const rows = await everything(sql, schema);
      t.ok(rows.every((table) => table.length > 0));
      first ??= rows;
      t.same(rows, first, schema);
    }
  });

  t.test('SENTINEL-05 SENTINEL-06 SENTINEL-07 SENTINEL-08 SENTINEL-09 as the facts have it', async (t) => {
    await fold(sql, 'all_of_it', [history, looks()], 100);
    const expected = reports.map(({ at, ...report }) => {
      const mine = votes.filter(({ id }) => id === report.id);
      const scores = (stands: boolean) =>
        mine.filter((one) => (one.stands ?? true) === stands).map(({ score }) => score);
      const mean = (all: number[]) => all.reduce((sum, score) => sum + score, 0) / all.length;
      const plain = scores(false);
      const voices = [...scores(true), ...(plain.length > 0 ? [mean(plain)] : [])];
      return {
        ...report,
        title: clean(report.title),
        affected: report.affected.map(clean),
        status: mine.at(-1)?.status ?? 'pending',
        created_at: at.toISOString(),
        votes: mine.length,
        average_score: mine.length > 0 ? Math.round(100 * mean(voices)) / 100 : null,
        threshold_met: voices.length >= 3,
      };
    });
    expected.reverse();
    t.same([...new Set(expected.map(({ status }) => status))].sort(), [...incidentStatuses].sort());
    for (const status of [undefined, ...incidentStatuses])
      for (const severity of [undefined, ...severities]) {
        const some = expected.filter(
          (one) => (!status || one.status === status) && (!severity || one.severity === severity),
        );
        const listed = await listIncidents(sql, 'all_of_it', { status, severity, limit: 10 });
        t.same(listed, { incidents: some.slice(0, 10), total: some.length }, `${status} ${severity}`);
      }

    for (const incident of expected.slice(0, 40)) {
      const mine = votes.filter(({ id }) => id === incident.id).reverse();
      const within = (from: number, to: number) =>
        mine.filter(({ score }) => score >= from && score <= to).length;
      const consensus = {
        incident_id: incident.id,
        status: incident.status,
        votes: mine.length,
        average_score: incident.average_score,
        threshold: { min_votes: 3, validate: 70, reject: 30 },
        threshold_met: incident.threshold_met,
        distribution: { reject: within(0, 30), between: within(31, 69), validate: within(70, 100) },
      };
      const contributions = mine.map(({ id: _, status: __, voter: nick, stands: ___, at, ...vote }) => ({
        nick,
        ...vote,
        created_at: at.toISOString(),
      }));
      t.same(await consensusOn(sql, 'all_of_it', incident.id), consensus);
      t.same(await showIncident(sql, 'all_of_it', incident.id, 100), {
        ...incident,
        consensus,
        contributions,
      });
      t.same(
        (await showIncident(sql, 'all_of_it', incident.id, 1))?.contributions.length,
        mine.length ? 1 : 0,
      );
    }
    t.equal(await showIncident(sql, 'all_of_it', 'inc-zzzzzzzz', 1), undefined);
    t.equal(await consensusOn(sql, 'all_of_it', 'inc-zzzzzzzz'), undefined);

    const mine = votes.filter(({ voter }) => casefold(voter) === 'voter7').reverse();
    t.ok(mine.length > 10);
    const { total, contributions } = await contributionsOf(sql, 'all_of_it', 'voter7', 10);
    t.equal(total, mine.length);
    t.same(
      contributions,
      mine.slice(0, 10).map(({ id, status: _, voter: __, stands: ___, at, ...vote }) => {
        const { title, severity, status } = expected.find((one) => one.id === id)!;
        return { incident: { id, title, severity, status }, ...vote, created_at: at.toISOString() };
      }),
    );
    t.same(await contributionsOf(sql, 'all_of_it', 'nobody', 10), { total: 0, contributions: [] });

    const names = [...votes.map(({ voter }) => voter), ...reports.map(({ reporter }) => reporter)];
    const count = (field: 'status' | 'severity', value: string) =>
      expected.filter((one) => one[field] === value).length;
    t.same(await incidentStatistics(sql, 'all_of_it'), {
      incidents: reports.length,
      by_status: Object.fromEntries(incidentStatuses.map((one) => [one, count('status', one)])),
      by_severity: Object.fromEntries(severities.map((one) => [one, count('severity', one)])),
      votes: votes.length,
      contributions: votes.length,
      subscribers: new Set(names.map(casefold)).size,
    });
  });

  t.test('CERT-02 CERT-03 what is known of endpoints', async (t) => {
    const places = ['irc', 'gone', 'old', 'new', 'other'].map((name) => ({
      host: `${name}.example`,
      port: 6697,
    }));
    const at = (days: number) => certificateViews(sql, 'in_sevens', places, new Date(start + days * day));
    const [irc, gone, old, renewed, other] = await at(0);
    t.same(irc, {
      host: 'irc.example',
      port: 6697,
      issuer: 'An Authority',
      subject: 'irc.example',
      valid_from: iso(-60),
      valid_to: iso(40),
      days_until_expiry: 40,
      status: 'unreachable',
      trusted: true,
      error: 'ECONNREFUSED',
      last_check_at: new Date(start + 5_000).toISOString(),
    });
    t.match(gone, { status: 'unreachable', valid_to: null, days_until_expiry: null, trusted: null });
    t.match(old, { status: 'EXPIRED', days_until_expiry: -1, trusted: false, error: 'CERT_HAS_EXPIRED' });
    t.match(renewed, { status: 'ok', days_until_expiry: 95, trusted: true, error: null });
    t.same(other, {
      host: 'other.example',
      port: 6697,
      issuer: null,
      subject: null,
      valid_from: null,
      valid_to: null,
      days_until_expiry: null,
      status: 'unchecked',
      trusted: null,
      error: null,
      last_check_at: null,
    });
    const passed: [number, string][] = [];
    for (let days = 60; days <= 96; days += 0.5) {
      const status = (await at(days))[3]!.status;
      if (status !== passed.at(-1)?.[1]) passed.push([95 - days, status]);
    }
    t.same(passed, [
      [35, 'ok'],
      [30, 'WARN-30'],
      [14, 'WARN-14'],
      [7, 'CRIT-7'],
      [3, 'CRIT-3'],
      [0, 'EXPIRED'],
    ]);
    t.equal((await at(41))[0]!.status, 'EXPIRED', 'a certificate that has run out is the worse news');
  });
});

import type { Decider } from '../core/index.js';
import { type CertificateCheck, type CertificateFact, certificateSubject } from './facts.js';

const dayMs = 24 * 3_600_000;

/** What was last told of an endpoint. */
export interface CertificateState {
  last: CertificateCheck | undefined;
}

/** Tells what is found at an endpoint when it is something else than before, and once a day that it was looked at. */
export const certificateDecider: Decider<CertificateState, CertificateCheck, CertificateFact> = {
  initial: () => ({ last: undefined }),

  subject: certificateSubject,

  evolve(state, { data }) {
    state.last = data;
  },

  decide(check, { last }) {
    const age = last ? Date.parse(check.checked_at) - Date.parse(last.checked_at) : dayMs;
    if (last && age < dayMs && found(check) === found(last)) return undefined;
    return { type: 'certificate.checked', data: check };
  },
};

const found = ({ certificate, error }: CertificateCheck): string =>
  JSON.stringify([
    error,
    certificate && [
      certificate.issuer,
      certificate.subject,
      certificate.valid_from,
      certificate.valid_to,
      certificate.distrust,
    ],
  ]);

/** From how many days before the expiry on a certificate calls for somebody, the first call first. */
export const alertTiers = [
  { days: 30, level: 'info', label: 'WARN-30' },
  { days: 14, level: 'warn', label: 'WARN-14' },
  { days: 7, level: 'critical', label: 'CRIT-7' },
  { days: 3, level: 'critical', label: 'CRIT-3' },
  { days: 0, level: 'fatal', label: 'EXPIRED' },
] as const;

/** Whole days until a moment; negative when it is past. */
export function daysUntil(validTo: Date, now: Date): number {
  return Math.floor((validTo.getTime() - now.getTime()) / dayMs);
}

/** The label of the last tier that an expiry has reached, or `ok`. */
export function expiryStatus(validTo: Date, now: Date): 'ok' | (typeof alertTiers)[number]['label'] {
  const left = (validTo.getTime() - now.getTime()) / dayMs;
  return alertTiers.findLast(({ days }) => left <= days)?.label ?? 'ok';
}

import { z } from 'zod';
import { certificateViews } from '../../../projections/incidents/certificates.js';
import { alertTiers } from '../../../streams/certificates/index.js';
import type { Endpoint } from '../../../workers/certificates/index.js';
import { Time, text } from '../core/fields.js';
import { defineOperation } from '../core/operation.js';
import type { IncidentsParts } from './parts.js';

/** TLS certificates as last checked. */
const Certificates = z.looseObject({
  hosts: z.array(text('irc.example:6697')),
  certs: z.array(
    z.looseObject({
      host: text('irc.example'),
      port: z.int().meta({ example: 6697 }),
      issuer: text('An authority').nullable(),
      subject: text('irc.example').nullable(),
      valid_from: Time.nullable(),
      valid_to: Time.nullable(),
      days_until_expiry: z.number().meta({ example: 60 }).nullable(),
      status: text('ok'),
    }),
  ),
  alertTiers: z.array(z.looseObject({ days: z.int(), label: text('WARN-30') })).meta({ example: alertTiers }),
});

/** The certificates of the network's TLS endpoints. */
export const getCertificateStatus = defineOperation('getCertificateStatus', {
  tag: 'Security',
  summary: 'TLS certificates of the network’s endpoints',
  description:
    'Of the endpoints that the operator lists, with the days that are left and the level of alert.',
  says: 'As last checked',
  output: Certificates,
  http: { method: 'get', path: '/sentinel/cert-status' },
  tool: {
    name: 'svc_cert_status',
    title: 'TLS certificates of the network',
    description:
      'The TLS certificates of the network’s endpoints, as last checked, and how many days they last.',
    output: 'described',
  },
  remote: { service: 'sentinel', method: 'get', path: '/api/cert-status' },
  run: async (_input, _caller, { log, incidents: { rows, endpoints } }: IncidentsParts) => {
    const certs = await rows.read(certificateViews, endpoints, log.now());
    return { hosts: endpoints.map(placeOf), certs, alertTiers };
  },
});

/** TLS endpoints from `host:port` texts. */
export function endpointsOf(places: readonly string[]): Endpoint[] {
  return [...new Set(places.map((place) => place.toLowerCase()))].map((place) => {
    const colon = place.lastIndexOf(':');
    return { host: place.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(place.slice(colon + 1)) };
  });
}

const placeOf = ({ host, port }: Endpoint): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

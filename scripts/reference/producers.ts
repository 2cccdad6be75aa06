import { eventTerms } from '../../src/app/areas/doors.js';
import { readConfig } from '../../src/config/config.js';
import { addressesAt } from '../../src/pages/discovery/doors.js';
import { producerGuide } from '../../src/pages/discovery/producer-guide.js';

/** The guide for producers of events, as a service with the usual settings serves it. */
export function producersPage(): string {
  const guide = producerGuide({
    at: addressesAt('http://localhost:8100'),
    events: eventTerms(readConfig({})),
  });
  const [title, ...rest] = guide.split('\n');
  const made = '<!-- Made from the code by `npm run docs:reference`: not to be edited. -->';
  return [title, '', made, ...rest].join('\n');
}

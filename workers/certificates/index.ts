import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import {
  type CertificateCheck,
  certificateDecider,
  certificates,
  expiryStatus,
} from '../../streams/certificates/index.js';
import { type Log, pause } from '../../streams/core/index.js';
import { type Endpoint, probe } from './probe.js';

export type { Endpoint } from './probe.js';

/** What the worker works with; times in milliseconds. */
export interface CheckCertificatesOptions {
  log: Log;
  places: readonly Endpoint[];
  logger: Logger;
  /** Pause between two looks at an endpoint; an hour by default. */
  everyMs?: number;
  /** How long one handshake may take; ten seconds by default. */
  timeoutMs?: number;
  /** Authorities to trust instead of the usual ones, PEM. */
  ca?: string;
}

const actor = 'check-certificates';
/** Endpoints that are probed in parallel: many of them may be silent. */
const atATime = 8;
/** Pause after a round in which something could not be recorded. */
const retryMs = 30_000;

/** Checks the certificates of TLS endpoints regularly, and records what has changed. */
export class CheckCertificates {
  readonly #options: CheckCertificatesOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: CheckCertificatesOptions) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Breaks off the looks under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { everyMs = 3_600_000 } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const isRecorded = await this.#round();
      await pause(isRecorded ? everyMs : Math.min(everyMs, retryMs), signal);
    }
  }

  /** Probes every endpoint once. Answers whether all changes could be recorded. */
  async #round(): Promise<boolean> {
    const limit = pLimit(atATime);
    const looks = this.#options.places.map((place) => limit(() => this.#look(place)));
    return (await Promise.all(looks)).every(Boolean);
  }

  async #look(place: Endpoint): Promise<boolean> {
    const { log, logger, ca, timeoutMs = 10_000 } = this.#options;
    const { signal } = this.#stop;
    if (signal.aborted) return true;
    const check = await probe(place, { timeoutMs, signal, ca, now: log.now() });
    if (signal.aborted) return true;
    try {
      const { fact } = await log.handle(certificates, certificateDecider, check, { by: actor });
      if (fact) this.#say(fact.data);
      return true;
    } catch (error) {
      logger.warn({ ...place, err: error }, 'certificate could not be recorded');
      return false;
    }
  }

  #say({ host, port, certificate, error }: CertificateCheck): void {
    const { log, logger } = this.#options;
    const place = { host, port };
    if (!certificate) {
      logger.warn({ ...place, error }, 'certificate cannot be seen');
      return;
    }
    const { valid_to, distrust } = certificate;
    const status = expiryStatus(new Date(valid_to), log.now());
    if (status === 'ok' && distrust === null) logger.info({ ...place, valid_to }, 'certificate checked');
    else logger.warn({ ...place, valid_to, status, distrust }, 'certificate needs somebody');
  }
}

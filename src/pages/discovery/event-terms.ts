/** How this service takes events, as its settings have it. */
export interface EventTerms {
  /** How long an event waits for the network before it expires, in milliseconds. */
  ttlMs: number;
  /** The pause before a line that was refused is tried again, in milliseconds. */
  retryMs: number;
  /** Failures of a channel after which an event is given up. */
  maxRetries: number;
  /** The ways in which events may be signed. */
  schemes: readonly string[];
  /** What becomes of types without a row, and which fields of their payload may be shown; all where none is named. */
  unknown: { events: 'show' | 'ignore' | 'reject'; fields: readonly string[] };
  /** The name under which this service is a source itself. */
  source: string;
}

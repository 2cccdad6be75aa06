const zoneless = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/;

/** Whether a text is a time in ISO 8601 but for its zone, and so says nothing certain. */
export function lacksZone(text: string): boolean {
  return zoneless.test(text) && !Number.isNaN(Date.parse(`${text}Z`));
}

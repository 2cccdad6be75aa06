const zoneless = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/;

/** Whether a text is a time in ISO 8601 but for its zone, and so says nothing certain. */
export function lacksZone(text: string): boolean {
  return zoneless.test(text) && !Number.isNaN(Date.parse(`${text}Z`));
}

/**
 * The time that a text in ISO 8601 says, with the day at least; `undefined` if it says none, or its day does not exist.
 * (A `Date` takes 30 February for 2 March.)
 */
export function timeOf(text: string): Date | undefined {
  const [day, year = '', month = '', date = ''] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? [];
  const time = new Date(text);
  if (day === undefined || Number.isNaN(time.getTime())) return undefined;
  const lastOfMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(date) <= lastOfMonth ? time : undefined;
}

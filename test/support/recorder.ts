/** Whether a line of an answer to NAMES has the recorder among those in the channel. The server's own name has its word too. */
export const showsRecorder = (line: string): boolean =>
  / 353 \S+ \S+ \S+ :(?:.* )?[@+]*relay(?:[ !]|$)/.test(line);

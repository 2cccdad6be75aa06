/** Words that hang together, as paths do. */
const token = /[^\s"'`()<>,;|]{4,300}/g;
/** Where paths begin that are not relative to somebody's own folder. */
const rooted =
  /^(?:~|\.{1,2}|[a-z]:|\/(?:usr|etc|var|opt|home|users|root|srv|tmp|lib|lib64|bin|sbin|run|dev|proc|sys|mnt|media|boot))[/\\]/i;
const extension = /\.[a-z][a-z0-9]{0,3}(?::\d{1,6}){0,2}[:.!?]?$/i;

/** A text without the paths of files in it; `undefined` when there are none. Addresses of the web stay. */
export function withoutPaths(text: string): string | undefined {
  const read = text.replace(token, (word) => (isPath(word) ? ' ' : word));
  return read === text ? undefined : read;
}

function isPath(word: string): boolean {
  const folders = word.split(/[/\\]/).length - 1;
  return folders >= 2 && !word.includes('://') && (rooted.test(word) || extension.test(word));
}

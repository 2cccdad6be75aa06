import { nearestWord } from '../words/spelling.js';

/** Names that a `.env` file may hold besides our settings: for docker compose, and for Node.js itself. */
const ofOthers = /^((POSTGRES|NATS)_PASSWORD|TZ|(COMPOSE|DOCKER|NODE)_.+)$/;
/** Shorter names, such as HOST, are too much like those of other programs in the environment to be called misspelled. */
const shortest = 5;

/**
 * Complaints about names that are not settings. A `.env` file is written for this service, so every other
 * name in it is reported. The environment holds everybody's variables, so only names that look like a setting
 * are. `brokenLines`: how many lines of the file are no settings at all.
 */
export function unknownNames(
  given: { environment: readonly string[]; file: readonly string[]; brokenLines: number },
  known: readonly string[],
): string[] {
  const long = known.filter((name) => name.length >= shortest);
  const meant = (name: string, names: readonly string[]) => nearestWord(name.toUpperCase(), names);
  const say = (name: string, place: string, suggestion: string | undefined) =>
    `${name}${place} is not a setting${suggestion ? `: did you mean ${suggestion}?` : ''}`;
  const unknown = (name: string) => !known.includes(name);
  // what is no name comes from a line that is not NAME=value
  const inFile = given.file.filter(
    (name) => unknown(name) && !ofOthers.test(name) && /^[A-Za-z_]\w*$/.test(name),
  );
  const around = given.environment.filter(
    (name) => unknown(name) && !given.file.includes(name) && meant(name, long) !== undefined,
  );
  return [
    // such a line may hold a secret: nothing of it is repeated
    ...Array(given.brokenLines).fill(
      '.env has a line that is not NAME=value: Node.js passes over it, or over the next one too',
    ),
    ...inFile.map((name) => say(name, ' in .env', meant(name, known))),
    ...around.map((name) => say(name, '', meant(name, long))),
  ];
}

/** How many lines of a `.env` file are neither NAME=value nor a comment. Versions of Node.js do different things with them. */
export function brokenLinesOf(file: string): number {
  const values = /=[ \t]*(["'`])[\s\S]*?\1/g;
  const lines = file
    .replace(/^\s*#.*$/gm, '')
    .replace(values, '=')
    .split('\n');
  return lines.filter((line) => line.trim() !== '' && !/^\s*(export\s+)?[A-Za-z_]\w*\s*=/.test(line)).length;
}

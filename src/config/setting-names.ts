import { nearestWord } from '../words/spelling.js';

/** Names that a `.env` file may hold besides our settings: for docker compose, and for Node.js itself. */
const ofOthers = /^((POSTGRES|NATS)_PASSWORD|TZ|(COMPOSE|DOCKER|NODE)_.+)$/;
/** Shorter names, such as HOST, are too much like those of other programs to be called misspelled. */
const shortest = 5;

/**
 * Complaints about names that are not settings. A `.env` file is written for this service, so every other
 * name in it is reported. The environment holds everybody's variables, so only names that look like a setting
 * are.
 */
export function unknownNames(
  given: { environment: readonly string[]; file: readonly string[] },
  known: readonly string[],
): string[] {
  const similar = known.filter((name) => name.length >= shortest);
  const meant = (name: string) => nearestWord(name.toUpperCase(), similar);
  const say = (name: string, place: string) => {
    const suggestion = meant(name);
    return `${name}${place} is not a setting${suggestion ? `: did you mean ${suggestion}?` : ''}`;
  };
  const unknown = (name: string) => !known.includes(name);
  // a line that is not NAME=value may hold a secret: nothing of it is repeated
  const broken = given.file.filter((name) => !/^[A-Za-z_]\w*$/.test(name));
  const inFile = given.file.filter((name) => unknown(name) && !ofOthers.test(name) && !broken.includes(name));
  const around = given.environment.filter(
    (name) => unknown(name) && !given.file.includes(name) && meant(name) !== undefined,
  );
  return [
    ...broken.map(() => '.env has a line that is not NAME=value, which may take the next one along'),
    ...inFile.map((name) => say(name, ' in .env')),
    ...around.map((name) => say(name, '')),
  ];
}

/** What a synthesis says. */
export interface Synthesis {
  consensus: string;
  /** From 0 to 1; `null` where the model did not say. */
  agreement: number | null;
  dissent: string[];
}

const mostDissents = 50;

/**
 * Reads the answer of a model that was asked for a synthesis. The last JSON object with a consensus counts,
 * whatever text surrounds it. An object that was cut off counts too. Otherwise the whole answer is the
 * consensus.
 */
export function readSynthesis(answer: string): Synthesis {
  for (const found of jsonObjects(answer).reverse()) {
    const { consensus, agreement, dissent } = found as Record<string, unknown>;
    if (typeof consensus !== 'string' || consensus.trim() === '') continue;
    return {
      consensus: consensus.trim(),
      agreement: readAgreement(agreement),
      dissent: readDissent(dissent),
    };
  }
  return { consensus: cutConsensus(answer) ?? answer.trim(), agreement: null, dissent: [] };
}

/** The consensus of an object that ends in the middle, because the answer was too long. */
function cutConsensus(answer: string): string | undefined {
  const [, text] = /"consensus"\s*:\s*"((?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-f]{4})+)/i.exec(answer) ?? [];
  if (text === undefined) return undefined;
  const found = parsed(`{"text":"${text.replace(/[\n\r\t]/g, ' ')}"}`) as { text: string } | undefined;
  return found?.text.trim();
}

/** A number from 0 to 1, also if it is written as `"0.8"`, `80`, `"80%"` or `"8/10"`. */
function readAgreement(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const [, number, unit, whole] =
    /^\s*(\d+(?:\.\d+)?)\s*(?:(%)|\/\s*(\d+(?:\.\d+)?))?\s*$/.exec(String(value)) ?? [];
  if (number === undefined) return null;
  const scale = whole !== undefined ? Number(whole) : unit || Number(number) > 1 ? 100 : 1;
  const agreement = Number(number) / scale;
  return agreement >= 0 && agreement <= 1 ? Math.round(agreement * 1e6) / 1e6 : null;
}

/** A list of texts, also if it is one text, or a list of objects that have one. */
function readDissent(value: unknown): string[] {
  const items = Array.isArray(value) ? value : [value];
  const texts = items.map((item) => {
    if (typeof item === 'string') return item.trim();
    if (typeof item !== 'object' || item === null) return '';
    return Object.values(item)
      .filter((part) => typeof part === 'string')
      .join(': ')
      .trim();
  });
  return texts.filter((text) => text !== '' && !/^(?:none|null|n\/a)\.?$/i.test(text)).slice(0, mostDissents);
}

/** A text with more openings is no answer, and every opening may cost a scan of all the rest. */
const mostOpenings = 200;

/** The outermost JSON objects in a text, in order. */
function jsonObjects(text: string): object[] {
  const found: object[] = [];
  let from = text.indexOf('{');
  for (let opening = 0; from >= 0 && opening < mostOpenings; opening++) {
    const end = endOfObject(text, from);
    const object = end === undefined ? undefined : parsed(text.slice(from, end));
    if (object) found.push(object);
    from = text.indexOf('{', object ? end : from + 1);
  }
  return found;
}

/** Index after the brace that closes the one at `from`. Braces in strings do not count. */
function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let index = from; index < text.length; index++) {
    const char = text[index];
    if (isString) {
      if (char === '\\') index += 1;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return index + 1;
  }
  return undefined;
}

function parsed(text: string): object | undefined {
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

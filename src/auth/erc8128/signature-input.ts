/** A signature as `Signature-Input` describes it. */
export interface DescribedSignature {
  /** What it covers. */
  components: string[];
  /** Its parameters by name. */
  parameters: Map<string, string>;
}

const name = '[a-z*][a-z0-9_.*-]*';
const quoted = '"(?:[^"\\\\]|\\\\.)*"';
const word = '[^\\s;,"]+';
const parameter = new RegExp(`;\\s*(${name})=(?:(${quoted})|(${word}))`, 'g');
const component = new RegExp(quoted, 'g');

/** The signatures under a label, as far as a `Signature-Input` header can be read. */
export function signaturesOf(header: string, label: string): DescribedSignature[] {
  const components = `\\(((?:${quoted}|[^")])*)\\)`;
  const parameters = `((?:\\s*;\\s*${name}=(?:${quoted}|${word}))*)`;
  const members = header.matchAll(new RegExp(`(?:^|,)\\s*${label}=${components}${parameters}`, 'g'));
  return [...members].map(([, covered, text]) => ({
    components: [...covered!.matchAll(component)].map(([item]) => item.slice(1, -1)),
    parameters: new Map(
      [...text!.matchAll(parameter)].map(([, key, string, token]) => [key!, string?.slice(1, -1) ?? token!]),
    ),
  }));
}

import type { Schema } from './fuzz/schema.js';

/** A schema with all that can be broken. */
export interface Strict extends Schema {
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
  nullable?: boolean;
  properties?: Record<string, Strict>;
  items?: Strict;
}

/** A value that breaks one rule of a schema, and which one. */
export interface Wrong {
  rule: string;
  value: unknown;
}

/** Values that each break one rule of a schema at its own level. */
export function wrongValues(schema: Strict): Wrong[] {
  if (schema.enum)
    return [
      { rule: 'enum', value: typeof schema.enum[0] === 'string' ? 'no-such-choice' : 987_654 },
      { rule: 'type', value: {} },
    ];
  const wrong: Wrong[] = [];
  const add = (rule: string, ...values: unknown[]) => wrong.push(...values.map((value) => ({ rule, value })));
  const { minimum, maximum, minLength = 0, maxLength, minItems = 0, maxItems, items } = schema;
  switch (schema.type) {
    case 'string':
      add('type', 5, true, {}, []);
      if (minLength > 0) add('minLength', 'x'.repeat(minLength - 1));
      if (maxLength !== undefined) add('maxLength', 'x'.repeat(maxLength + 1));
      if (schema.pattern)
        add('pattern', ...[' ', '\u0007', '!', 'x'.repeat(5_000)].filter((text) => !matches(schema, text)));
      if (schema.format === 'date-time') add('format', 'yesterday', '2026-13-45T99:99:99Z');
      if (schema.format === 'uri') add('format', 'no address');
      break;
    case 'integer':
    case 'number':
      add('type', 'many', true, {}, []);
      if (schema.type === 'integer') add('type', 1.5);
      if (minimum !== undefined) add('minimum', minimum - 1);
      if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) add('maximum', maximum + 1);
      break;
    case 'boolean':
      add('type', 'perhaps', 5, {});
      break;
    case 'array':
      add('type', 'text', 5, {});
      if (minItems > 0) add('minItems', []);
      if (maxItems !== undefined) add('maxItems', Array(maxItems + 1).fill('x'));
      if (items) for (const { rule, value } of wrongValues(items)) add(`items ${rule}`, [value]);
      break;
    case 'object':
      add('type', 'text', 5, []);
      break;
  }
  if (wrong.length > 0 && !schema.nullable) add('null', null);
  return wrong;
}

function matches({ pattern = '' }: Strict, text: string): boolean {
  return new RegExp(pattern).test(text);
}

/** The bodies that break one rule of a schema, made from one that breaks none. */
export function wrongBodies(schema: Strict, good: unknown): Wrong[] {
  if (schema.type !== 'object' || typeof good !== 'object' || good === null) return wrongValues(schema);
  const { properties = {}, required = [] } = schema;
  const members = good as Record<string, unknown>;
  return [
    ...wrongValues(schema),
    ...required.map((name) => ({
      rule: `${name} required`,
      value: Object.fromEntries(Object.entries(members).filter(([other]) => other !== name)),
    })),
    ...Object.entries(properties).flatMap(([name, of]) => {
      const deeper = name in members ? wrongBodies(of, members[name]) : wrongValues(of);
      return deeper.map(({ rule, value }) => ({
        rule: `${name} ${rule}`,
        value: { ...members, [name]: value },
      }));
    }),
  ];
}

/** Values at the edge of what a schema allows. */
export function edgeValues(schema: Strict): unknown[] {
  if (schema.enum) return schema.enum;
  if (schema.pattern || schema.format) return [];
  const { minimum, maximum, minLength = 0, maxLength } = schema;
  if (schema.type === 'string')
    return [minLength, maxLength]
      .filter((length) => length !== undefined)
      .map((length) => 'x'.repeat(length));
  if (schema.type === 'boolean') return [true, false];
  if (schema.type === 'integer' || schema.type === 'number')
    return [minimum, maximum].filter(
      (edge) => edge !== undefined && Math.abs(edge) < Number.MAX_SAFE_INTEGER,
    );
  return [];
}

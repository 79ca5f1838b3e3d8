// As much of JSON Schema as our own schemas use.

/** A schema, or a part of one. */
export interface Schema {
  $ref?: string;
  definitions?: Record<string, Schema>;
  title?: string;
  description?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** One step into a document: a key, or any item of a list. */
export type Step = { key: string } | "item";

/** The alternatives a schema allows, references followed. */
export function alternatives(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > 16) {
    return [];
  }
  if (schema.$ref !== undefined) {
    const target = root.definitions?.[schema.$ref.replace("#/definitions/", "")];
    const found = target === undefined ? [] : alternatives(root, target, depth + 1);
    return schema.description === undefined
      ? found
      : found.map((one) => ({ ...one, description: schema.description }));
  }
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const own = { ...schema, anyOf: undefined, oneOf: undefined, allOf: undefined };
  const inner = branches.flatMap((branch) => alternatives(root, branch, depth + 1));
  const described = inner.map((one) => ({ ...one, description: one.description ?? own.description }));
  const says = own.properties ?? own.items ?? own.enum ?? own.additionalProperties ?? own.type;
  return says === undefined && described.length > 0 ? described : [own, ...described];
}

/** The schemas of the place that the steps lead to. */
export function descend(root: Schema, steps: readonly Step[]): Schema[] {
  let here = alternatives(root, root);
  for (const step of steps) {
    here = here.flatMap((schema) => inside(schema, step)).flatMap((one) => alternatives(root, one));
  }
  return here;
}

function inside(schema: Schema, step: Step): Schema[] {
  if (step === "item") {
    return schema.items === undefined ? [] : [schema.items];
  }
  const named = schema.properties?.[step.key];
  if (named !== undefined) {
    return [named];
  }
  for (const [pattern, value] of Object.entries(schema.patternProperties ?? {})) {
    if (new RegExp(pattern, "u").test(step.key)) {
      return [value];
    }
  }
  return typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
}

/** A schema in words: type, values, bounds, default. */
export function inWords(schema: Schema): string {
  const words: string[] = [];
  if (schema.type !== undefined) {
    words.push([schema.type].flat().join(" | "));
  }
  if (schema.enum !== undefined) {
    words.push(schema.enum.map((value) => JSON.stringify(value)).join(" | "));
  }
  if (schema.minimum !== undefined) {
    words.push(`≥ ${schema.minimum}`);
  }
  if (schema.maximum !== undefined) {
    words.push(`≤ ${schema.maximum}`);
  }
  if (schema.pattern !== undefined) {
    words.push(`\`${schema.pattern}\``);
  }
  if (schema.default !== undefined) {
    words.push(`= ${JSON.stringify(schema.default)}`);
  }
  return words.join(", ");
}

// Where in a YAML document a line is, read from its indentation. Block style only: that is how job
// files are written, and a wrong guess costs a suggestion, nothing more.
import type { Step } from "./schema";

/** A line, taken apart. */
interface Line {
  /** Column of the key, dashes counted as white space. */
  indent: number;
  /** Columns of the dashes before the key. */
  dashes: number[];
  key: string | undefined;
  /** What follows the colon, trimmed. */
  value: string;
}

const SHAPE = /^(\s*)((?:-\s+|-$)*)(?:("[^"]*"|'[^']*'|[^\s#"':][^:#]*?)\s*:(?=\s|$)\s*)?(.*)$/u;

/** Takes a line apart; `undefined` for blank lines and comments. */
export function takeApart(text: string): Line | undefined {
  if (/^\s*(#|$)/u.test(text) || /^(---|%)/u.test(text)) {
    return undefined;
  }
  const found = SHAPE.exec(text);
  if (found === null) {
    return undefined;
  }
  const [, space = "", dashed = "", key, value = ""] = found;
  const dashes = [...dashed].flatMap((sign, at) => (sign === "-" ? [space.length + at] : []));
  return {
    indent: space.length + dashed.length,
    dashes,
    key: key?.replace(/^["']|["']$/gu, ""),
    value: value.trim(),
  };
}

/** The place of a line: the steps to the mapping or list it is an entry of. */
export interface Place {
  parents: Step[];
  line: Line;
  /** Inside a literal text (`|`, `>`), where nothing of ours is written. */
  literal: boolean;
}

/**
 * Finds the place of line `number` (from 0). `indent` stands for the indentation of a blank line:
 * that of the cursor.
 */
export function placeOf(lines: readonly string[], number: number, indent: number): Place {
  const text = lines[number] ?? "";
  const line = takeApart(text) ?? { indent, dashes: [], key: undefined, value: "" };
  const steps: Step[] = line.dashes.map(() => "item" as const);
  let edge = line.dashes[0] ?? line.indent;
  let afterDash = line.dashes.length > 0;
  let literal = false;
  for (let above = number - 1; above >= 0; above -= 1) {
    const other = takeApart(lines[above] ?? "");
    if (other === undefined) {
      continue;
    }
    // A list may stand in the same column as its key.
    const start = other.dashes[0] ?? other.indent;
    const owns = other.key !== undefined && (other.indent < edge || (afterDash && other.indent === edge));
    const inner = other.dashes.filter((column) => column < edge);
    if (owns && other.key !== undefined) {
      literal ||= /^[|>][-+0-9]*$/u.test(other.value);
      steps.unshift({ key: other.key });
      steps.unshift(...other.dashes.map(() => "item" as const));
      edge = start;
      afterDash = other.dashes.length > 0;
    } else if (inner.length > 0 && other.dashes.length > 0 && !afterDash) {
      literal ||= other.key === undefined && /^[|>][-+0-9]*$/u.test(other.value);
      steps.unshift(...inner.map(() => "item" as const));
      edge = inner[0] ?? edge;
      afterDash = true;
    }
    if (edge === 0 && !afterDash) {
      break;
    }
  }
  return { parents: steps, line, literal };
}

/** The keys that stand beside line `number` in the same mapping. */
export function siblings(lines: readonly string[], number: number, indent: number): Set<string> {
  const keys = new Set<string>();
  for (const direction of [-1, 1]) {
    for (let at = number + direction; at >= 0 && at < lines.length; at += direction) {
      const other = takeApart(lines[at] ?? "");
      if (other === undefined) {
        continue;
      }
      if (other.indent === indent && other.key !== undefined) {
        keys.add(other.key);
      }
      if (other.indent < indent || (other.dashes.length > 0 && other.indent === indent)) {
        break;
      }
    }
  }
  return keys;
}

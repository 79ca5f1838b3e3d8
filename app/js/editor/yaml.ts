// Completion and hover for YAML documents, from the protocol's own schema.
import { editor, languages } from "monaco-editor/editor/editor.api";
import type { IRange, Position } from "monaco-editor/editor/editor.api";
import { placeOf, siblings } from "./outline";
import { descend, inWords, type Schema } from "./schema";

let schema: Schema = {};
let registered = false;

/** Gives YAML documents their schema; the providers are registered once. */
export function describeYaml(text: string): void {
  schema = JSON.parse(text) as Schema;
  if (!registered) {
    registered = true;
    languages.registerCompletionItemProvider("yaml", {
      triggerCharacters: [" ", ":"],
      provideCompletionItems: (model, position) => ({ suggestions: complete(model, position) }),
    });
    languages.registerHoverProvider("yaml", { provideHover: explain });
  }
}

function complete(model: editor.ITextModel, position: Position): languages.CompletionItem[] {
  const lines = model.getLinesContent();
  const number = position.lineNumber - 1;
  const before = (lines[number] ?? "").slice(0, position.column - 1);
  const { parents, line, literal } = placeOf(
    lines.with(number, before),
    number,
    position.column - 1,
  );
  if (literal || before.trimStart().startsWith("#")) {
    return [];
  }
  const word = model.getWordUntilPosition(position);
  const range = {
    startLineNumber: position.lineNumber,
    endLineNumber: position.lineNumber,
    startColumn: word.startColumn,
    endColumn: word.endColumn,
  };
  if (line.key !== undefined) {
    return values(descend(schema, [...parents, { key: line.key }]), range);
  }
  const indent = line.value === "" ? position.column - 1 : line.indent;
  const here = descend(schema, parents);
  return [...keys(here, siblings(lines, number, indent), range), ...values(here, range)];
}

function keys(here: Schema[], taken: Set<string>, range: IRange): languages.CompletionItem[] {
  return here.flatMap((place) =>
    Object.entries(place.properties ?? {})
      .filter(([key]) => !taken.has(key))
      .map(([key, value]) => ({
        label: key,
        kind: languages.CompletionItemKind.Property,
        documentation: { value: about(descend({ ...value, definitions: schema.definitions }, [])) },
        insertText: `${key}: `,
        // What must be there comes first.
        sortText: `${place.required?.includes(key) ? "0" : "1"}${key}`,
        range,
      })),
  );
}

function values(here: Schema[], range: IRange): languages.CompletionItem[] {
  const all = here.flatMap((place) => {
    const listed = place.enum ?? (place.const === undefined ? [] : [place.const]);
    return place.type === "boolean" ? [true, false, ...listed] : listed;
  });
  return [...new Set(all.map(String))].map((value) => ({
    label: value,
    kind: languages.CompletionItemKind.Value,
    insertText: value,
    range,
  }));
}

function explain(model: editor.ITextModel, position: Position): languages.Hover | undefined {
  const lines = model.getLinesContent();
  const { parents, line, literal } = placeOf(lines, position.lineNumber - 1, 0);
  const last = line.indent + (line.key?.length ?? 0);
  if (literal || line.key === undefined || position.column - 1 > last) {
    return undefined;
  }
  const text = about(descend(schema, [...parents, { key: line.key }]));
  return text === "" ? undefined : { contents: [{ value: `**${line.key}**\n\n${text}` }] };
}

function about(places: Schema[]): string {
  const descriptions = new Set(places.flatMap((place) => place.description ?? []));
  const shapes = new Set(places.map(inWords).filter((words) => words !== ""));
  return [...descriptions, ...shapes].join("\n\n");
}

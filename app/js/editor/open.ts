import { KeyCode, KeyMod, MarkerSeverity, editor } from "monaco-editor/editor/editor.api";
import { jsonDefaults } from "monaco-editor/language/json/monaco.contribution";
import "./features";
import type { Handle, Options } from "./handle";
import { THEMES, defineThemes } from "./themes";
import { describeYaml } from "./yaml";

/** Opens an editor; [`create`] is its door. */
export function open(element: HTMLElement, options: Options): Handle {
  self.MonacoEnvironment = {
    getWorker: (_id: string, label: string) =>
      new Worker(label === "json" ? options.jsonWorker : options.editorWorker, { type: "module" }),
  };
  describeJson(options.jsonSchema);
  describeYaml(options.yamlSchema);
  defineThemes();

  const { fontFamily, fontSize, lineHeight } = getComputedStyle(element);
  const model = editor.createModel(options.text, options.language);
  const view = editor.create(element, {
    model,
    theme: THEMES[options.theme],
    ariaLabel: options.label,
    automaticLayout: true,
    fixedOverflowWidgets: true,
    folding: true,
    fontFamily,
    fontSize: Number.parseFloat(fontSize),
    lineHeight: Number.parseFloat(lineHeight),
    minimap: { enabled: false },
    padding: { top: 8, bottom: 8 },
    quickSuggestions: { strings: true, other: true, comments: false },
    renderLineHighlightOnlyWhenFocus: true,
    scrollBeyondLastLine: false,
    tabSize: 2,
    wordBasedSuggestions: "off",
    wordWrap: "on",
    scrollbar: { alwaysConsumeMouseWheel: false },
  });

  return handle(view, model);
}

// The server finds all mistakes, in the words of the whole product: the schema here only helps to write.
function describeJson(text: string): void {
  jsonDefaults.setDiagnosticsOptions({
    validate: false,
    allowComments: true,
    comments: "ignore",
    trailingCommas: "ignore",
    enableSchemaRequest: false,
    schemas: [{ uri: "berth://job.json", fileMatch: ["*"], schema: JSON.parse(text) }],
  });
}

function handle(view: editor.IStandaloneCodeEditor, model: editor.ITextModel): Handle {
  let ours = false;
  return {
    setText(text) {
      if (text === model.getValue()) {
        return;
      }
      ours = true;
      const cursor = view.getSelections();
      model.pushEditOperations(cursor, [{ range: model.getFullModelRange(), text }], () => cursor);
      ours = false;
    },
    onChange(listener) {
      model.onDidChangeContent(() => {
        if (!ours) {
          listener(model.getValue());
        }
      });
    },
    onSubmit(listener) {
      view.addCommand(KeyMod.CtrlCmd | KeyCode.Enter, listener);
    },
    setMarkers(markers) {
      const marks = markers.map(({ line, column, message }) => {
        const at = model.validatePosition({ lineNumber: line, column });
        const word = model.getWordAtPosition(at);
        return {
          severity: MarkerSeverity.Error,
          message,
          startLineNumber: at.lineNumber,
          endLineNumber: at.lineNumber,
          startColumn: word?.startColumn ?? at.column,
          endColumn: word?.endColumn ?? model.getLineMaxColumn(at.lineNumber),
        };
      });
      editor.setModelMarkers(model, "berth", marks);
    },
    reveal(lineNumber, column) {
      view.setPosition({ lineNumber, column });
      view.revealPositionInCenterIfOutsideViewport({ lineNumber, column });
      view.focus();
    },
    setLanguage: (language) => editor.setModelLanguage(model, language),
    setTheme: (theme) => editor.setTheme(THEMES[theme]),
    dispose() {
      view.dispose();
      model.dispose();
    },
  };
}

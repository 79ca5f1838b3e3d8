// The editor in the colours of the page: the values are those of style/tokens.css.
import { editor } from "monaco-editor/editor/editor.api";

interface Inks {
  base: "vs" | "vs-dark";
  surface: string;
  raised: string;
  subtle: string;
  selected: string;
  border: string;
  text: string;
  hint: string;
  accent: string;
  failed: string;
  waiting: string;
  key: string;
  text2: string;
  number: string;
}

const LIGHT: Inks = {
  base: "vs",
  surface: "#ffffff",
  raised: "#ffffff",
  subtle: "#f0f2f5",
  selected: "#cfe0f4",
  border: "#dfe3e9",
  text: "#1a1f27",
  hint: "#5e6979",
  accent: "#1d4fc4",
  failed: "#96201c",
  waiting: "#856404",
  key: "#1d4fc4",
  text2: "#187a4a",
  number: "#856404",
};

const DARK: Inks = {
  base: "vs-dark",
  surface: "#141920",
  raised: "#1f2630",
  subtle: "#1a2029",
  selected: "#1b3454",
  border: "#2a323d",
  text: "#e6eaf0",
  hint: "#8b96a6",
  accent: "#6b93ff",
  failed: "#ff5f52",
  waiting: "#ffc94d",
  key: "#8fb0ff",
  text2: "#4fdc9a",
  number: "#ffc94d",
};

function define(name: string, inks: Inks): void {
  const bare = (colour: string) => colour.slice(1);
  editor.defineTheme(name, {
    base: inks.base,
    inherit: true,
    rules: [
      { token: "", foreground: bare(inks.text) },
      { token: "comment", foreground: bare(inks.hint) },
      { token: "string.key.json", foreground: bare(inks.key) },
      { token: "type.yaml", foreground: bare(inks.key) },
      { token: "string", foreground: bare(inks.text2) },
      { token: "string.value.json", foreground: bare(inks.text2) },
      { token: "number", foreground: bare(inks.number) },
      { token: "keyword", foreground: bare(inks.number) },
      { token: "delimiter", foreground: bare(inks.hint) },
    ],
    colors: {
      "editor.background": inks.surface,
      "editor.foreground": inks.text,
      "editor.selectionBackground": inks.selected,
      "editor.lineHighlightBackground": inks.subtle,
      "editor.lineHighlightBorder": inks.subtle,
      "editorLineNumber.foreground": inks.hint,
      "editorLineNumber.activeForeground": inks.text,
      "editorCursor.foreground": inks.accent,
      "editorIndentGuide.background1": inks.border,
      "editorError.foreground": inks.failed,
      "editorWarning.foreground": inks.waiting,
      "editorWidget.background": inks.raised,
      "editorWidget.border": inks.border,
      "editorHoverWidget.background": inks.raised,
      "editorHoverWidget.border": inks.border,
      "editorSuggestWidget.background": inks.raised,
      "editorSuggestWidget.border": inks.border,
      "editorSuggestWidget.selectedBackground": inks.selected,
      "editorSuggestWidget.selectedForeground": inks.text,
      "editorSuggestWidget.highlightForeground": inks.accent,
      "editorSuggestWidget.focusHighlightForeground": inks.accent,
      "focusBorder": inks.accent,
      "input.background": inks.surface,
      "scrollbar.shadow": "#00000000",
    },
  });
}

/** The names of our two themes. */
export const THEMES = { light: "berth-light", dark: "berth-dark" } as const;

/** Makes both themes known to Monaco. */
export function defineThemes(): void {
  define(THEMES.light, LIGHT);
  define(THEMES.dark, DARK);
}

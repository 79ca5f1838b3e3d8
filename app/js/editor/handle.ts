/** The notations of a job file. */
export type Language = "json" | "yaml";

/** Which of the page's two themes. */
export type Theme = "light" | "dark";

/** What an editor is opened with. */
export interface Options {
  text: string;
  language: Language;
  theme: Theme;
  /** Language of the editor's own words. */
  locale: "en" | "zh";
  /** What a screen reader calls it. */
  label: string;
  /** JSON Schemas, as text: of JSON documents and of YAML documents. */
  jsonSchema: string;
  yamlSchema: string;
  /** Addresses of the two workers. */
  editorWorker: string;
  jsonWorker: string;
}

/** A mistake to be underlined; lines and columns from 1. */
export interface Marker {
  line: number;
  column: number;
  message: string;
}

/** An open editor. */
export interface Handle {
  /** Replaces the text; the cursor stays where it is and the change can be undone. */
  setText(text: string): void;
  /** Calls back with the text after each change that `setText` did not make. */
  onChange(listener: (text: string) => void): void;
  /** Calls back when Ctrl/⌘ Enter is pressed. */
  onSubmit(listener: () => void): void;
  setMarkers(markers: Marker[]): void;
  /** Puts the cursor there, scrolls to it and focuses the editor. */
  reveal(line: number, column: number): void;
  setLanguage(language: Language): void;
  setTheme(theme: Theme): void;
  dispose(): void;
}

// The terminal in the colours of the page: those of style/tokens.css as they hold for its element.
import type { ITheme } from "@xterm/xterm";

/** The colours that the tokens say now. */
export function colours(element: HTMLElement): ITheme {
  const style = getComputedStyle(element);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const theme: ITheme = {
    background: token("log-canvas"),
    foreground: token("text"),
    cursor: token("accent"),
    cursorAccent: token("log-canvas"),
    selectionBackground: token("ramp-2"),
    selectionForeground: undefined,
  };
  const named = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
  for (const name of named) {
    const bright = `bright${name[0]?.toUpperCase()}${name.slice(1)}` as keyof ITheme;
    Object.assign(theme, { [name]: token(`ansi-${name}`), [bright]: token(`ansi-${name}`) });
  }
  // What is bright must stand out from the ground, whichever that is.
  return { ...theme, brightBlack: token("text-3"), brightWhite: token("text") };
}

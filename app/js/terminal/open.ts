import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { colours } from "./colours";
import { Connection } from "./connection";
import type { Handle, Options, State } from "./handle";

/** Lines that can be scrolled back to. */
const SCROLLBACK = 10_000;

/** Opens a terminal; [`create`] is its door. */
export function open(element: HTMLElement, options: Options): Handle {
  const style = getComputedStyle(element);
  const terminal = new Terminal({
    allowProposedApi: false,
    cursorBlink: true,
    fontFamily: style.fontFamily,
    fontSize: Number.parseFloat(style.fontSize),
    minimumContrastRatio: 4.5,
    scrollback: SCROLLBACK,
    theme: colours(element),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  terminal.textarea?.setAttribute("aria-label", options.label);
  fit.fit();

  let listener: (state: State, detail: string) => void = () => {};
  let last: [State, string] = ["opening", ""];
  const connection = new Connection(options.address, options.memory, {
    columns: () => terminal.cols,
    rows: () => terminal.rows,
    write: (bytes, shown) => terminal.write(bytes, shown),
    reset: () => terminal.reset(),
    told(state, detail) {
      last = [state, detail];
      listener(state, detail);
    },
  });

  const encoder = new TextEncoder();
  terminal.onData((text) => connection.type(encoder.encode(text)));
  terminal.onBinary((text) => connection.type(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
  terminal.onResize(() => connection.resize());
  terminal.attachCustomKeyEventHandler((event) => !copies(terminal, event));
  const observer = new ResizeObserver(() => refit(element, fit));
  observer.observe(element);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    terminal.options.theme = colours(element);
  };
  dark.addEventListener("change", paint);

  return {
    onState(listen) {
      listener = listen;
      listen(...last);
    },
    paint,
    show() {
      refit(element, fit);
      terminal.focus();
    },
    reopen() {
      connection.reopen();
      terminal.focus();
    },
    close: () => connection.close(),
    dispose() {
      observer.disconnect();
      dark.removeEventListener("change", paint);
      connection.leave();
      terminal.dispose();
    },
  };
}

/** An element that is not in sight has no size. */
function refit(element: HTMLElement, fit: FitAddon): void {
  if (element.clientWidth > 0 && element.clientHeight > 0) {
    fit.fit();
  }
}

/** Ctrl+Shift+C copies and Ctrl+Shift+V pastes, as in other terminals; Ctrl+C stays the program's. */
function copies(terminal: Terminal, event: KeyboardEvent): boolean {
  if (event.type !== "keydown" || !event.ctrlKey || !event.shiftKey) {
    return false;
  }
  switch (event.code) {
    case "KeyC":
      if (terminal.hasSelection()) {
        event.preventDefault();
        // The terminal puts its selection into the event that this makes.
        document.execCommand("copy");
      }
      return true;
    case "KeyV":
      // The browser pastes into the terminal's field, and the terminal takes it from there.
      return true;
    default:
      return false;
  }
}

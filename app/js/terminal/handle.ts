/** What a terminal is opened with. */
export interface Options {
  /** The WebSocket's path and query, without what only the terminal knows: its size and its session. */
  address: string;
  /** Under which name the session is remembered in this browser tab. */
  memory: string;
  /** What a screen reader calls it. */
  label: string;
}

/** How a terminal is. */
export type State =
  /** It is being opened. */
  | "opening"
  /** It is open. */
  | "open"
  /** The connection broke; the shell waits, and it is tried again. */
  | "broken"
  /** It is over; the detail says why. */
  | "ended"
  /** It cannot be opened; the detail says why, in words. */
  | "refused";

/** An open terminal. */
export interface Handle {
  /** Tells how it is, now and whenever that changes: the state, and a word or a sentence about it. */
  onState(listener: (state: State, detail: string) => void): void;
  /** Takes over the page's colours as they are now. */
  paint(): void;
  /** Fits the size to the element's and puts the cursor there. */
  show(): void;
  /** Begins anew after it has ended. */
  reopen(): void;
  /** Ends the shell at once. */
  close(): void;
  /** Goes away; the shell waits half a minute. */
  dispose(): void;
}

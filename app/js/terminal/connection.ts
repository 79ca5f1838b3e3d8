// The WebSocket of a terminal, opened again and again until the shell has ended or waits no longer. The
// messages are those of src/server/terminal.rs.
import type { State } from "./handle";

/** What a connection shows and asks. */
export interface Screen {
  columns(): number;
  rows(): number;
  /** Shows bytes; calls back when they are on the screen. */
  write(bytes: Uint8Array, shown: () => void): void;
  /** Forgets what was shown. */
  reset(): void;
  told(state: State, detail: string): void;
}

/** After so many bytes the shell is told that they are on the screen. */
const ACKNOWLEDGED = 32 * 1024;
/** No message is longer. */
const LONGEST = 16 * 1024;
/** So long a shell waits for its terminal to come back, in milliseconds. */
const PATIENCE = 30_000;
/** The pauses before it is tried again, in milliseconds; the last one stays. */
const PAUSES = [0, 250, 500, 1_000, 2_000];

interface Opened {
  type: "opened";
  session: string;
  resumed: boolean;
  offset: number;
}
type Telling =
  | Opened
  | { type: "ended"; reason: string; code?: number | null }
  | { type: "error"; code: string; message: string };

export class Connection {
  private socket: WebSocket | undefined;
  private session: string | null;
  /** Bytes of the shell's output that have come here, and that are on the screen. */
  private arrived = 0;
  private shown = 0;
  private acknowledged = 0;
  private brokenSince: number | undefined;
  private attempts = 0;
  private timer: number | undefined;
  private over = false;

  constructor(
    private readonly address: string,
    private readonly memory: string,
    private readonly screen: Screen,
  ) {
    this.session = sessionStorage.getItem(memory);
    addEventListener("offline", this.broken);
    addEventListener("online", this.again);
    this.open();
  }

  /** Types. */
  type(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; start += LONGEST) {
      this.send(bytes.slice(start, start + LONGEST));
    }
  }

  /** Says the screen's size. */
  resize(): void {
    this.say({ resize: { columns: this.screen.columns(), rows: this.screen.rows() } });
  }

  /** Begins anew. */
  reopen(): void {
    this.forget();
    this.over = false;
    this.brokenSince = undefined;
    this.screen.reset();
    this.open();
  }

  /** Ends the shell. */
  close(): void {
    this.say("close");
    this.forget();
    this.leave();
  }

  /** Leaves the shell waiting. */
  leave(): void {
    this.over = true;
    removeEventListener("offline", this.broken);
    removeEventListener("online", this.again);
    clearTimeout(this.timer);
    this.drop();
  }

  private open(): void {
    this.drop();
    this.screen.told(this.brokenSince === undefined ? "opening" : "broken", "");
    const query = new URLSearchParams({
      columns: String(this.screen.columns()),
      rows: String(this.screen.rows()),
    });
    if (this.session !== null) {
      query.set("session", this.session);
      query.set("received", String(this.arrived));
    }
    const url = new URL(`${this.address}&${query}`, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") {
        this.told(JSON.parse(data) as Telling);
      } else {
        this.show(new Uint8Array(data as ArrayBuffer));
      }
    };
    socket.onclose = this.broken;
    this.socket = socket;
  }

  private told(telling: Telling): void {
    switch (telling.type) {
      case "opened":
        return this.opened(telling);
      case "ended":
        return this.ended("ended", [telling.reason, telling.code ?? ""].join(" ").trim());
      case "error":
        return this.ended("refused", telling.message);
    }
  }

  private opened({ session, resumed, offset }: Opened): void {
    if (!resumed && this.arrived > 0) {
      // The shell that this screen shows is gone.
      this.screen.reset();
    }
    this.session = session;
    sessionStorage.setItem(this.memory, session);
    this.arrived = this.shown = this.acknowledged = offset;
    this.brokenSince = undefined;
    this.attempts = 0;
    this.screen.told("open", "");
    this.resize();
  }

  private show(bytes: Uint8Array): void {
    const of = this.session;
    this.arrived += bytes.length;
    this.screen.write(bytes, () => {
      if (of !== this.session) return;
      this.shown = Math.min(this.shown + bytes.length, this.arrived);
      if (this.shown - this.acknowledged >= ACKNOWLEDGED) {
        this.acknowledged = this.shown;
        this.say({ received: this.shown });
      }
    });
  }

  private ended(state: State, detail: string): void {
    this.over = true;
    this.forget();
    this.drop();
    this.screen.told(state, detail);
  }

  private readonly broken = (): void => {
    if (this.over) return;
    this.drop();
    const now = performance.now();
    this.brokenSince ??= now;
    // A shell that never was needs no patience with it.
    if (now - this.brokenSince > PATIENCE) {
      return this.ended("ended", "left");
    }
    this.screen.told("broken", "");
    const pause = PAUSES[Math.min(this.attempts, PAUSES.length - 1)];
    this.attempts += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.again, pause);
  };

  private readonly again = (): void => {
    if (this.over || this.socket !== undefined) return;
    clearTimeout(this.timer);
    this.open();
  };

  private drop(): void {
    const socket = this.socket;
    this.socket = undefined;
    if (socket !== undefined) {
      socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  private forget(): void {
    this.session = null;
    this.arrived = this.shown = this.acknowledged = 0;
    sessionStorage.removeItem(this.memory);
  }

  private say(asking: object | string): void {
    this.send(JSON.stringify(asking));
  }

  private send(message: string | Uint8Array<ArrayBuffer>): void {
    // What is typed while the connection is broken is lost, as the state says.
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(message);
    }
  }
}

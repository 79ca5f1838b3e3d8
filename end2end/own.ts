// A Berth of a test's own, on simulated nodes: one that may be killed and started again at the same
// address with the same data.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContext, expect } from "@playwright/test";
import { PASSWORD, binary, freePort, site, stop, untilReady } from "./server";

/** Nodes enough that an answer that names them all is large. */
const NODES = 200;

export class Own {
  private berth?: ChildProcess;

  private constructor(
    readonly url: string,
    private readonly folder: string,
  ) {}

  static async open(): Promise<Own> {
    const folder = mkdtempSync(join(tmpdir(), "berth-own-"));
    const nodes = Array.from({ length: NODES }, (_, number) => node(`pier-${number + 1}`, number + 1));
    writeFileSync(join(folder, "berth.toml"), nodes.join(""));
    const own = new Own(`http://127.0.0.1:${await freePort()}`, folder);
    await own.start();
    return own;
  }

  async start() {
    const listen = new URL(this.url).host;
    const folders = ["--data", join(this.folder, "data"), "--config", join(this.folder, "berth.toml")];
    const env = { ...process.env, BERTH_SITE: site, BERTH_ADMIN_PASSWORD: PASSWORD };
    this.berth = spawn(binary, ["serve", "--listen", listen, ...folders], { env, stdio: ["ignore", "pipe", "pipe"] });
    mkdirSync(resolve("test-results"), { recursive: true });
    const log = createWriteStream(resolve("test-results/own.log"), { flags: "a" });
    this.berth.stdout?.pipe(log);
    this.berth.stderr?.pipe(log);
    await untilReady(this.berth, this.url);
  }

  /** Ends it as a power cut does. */
  async kill() {
    const berth = this.berth;
    if (!berth || berth.exitCode !== null) return;
    const ended = new Promise((resolve) => berth.once("exit", resolve));
    berth.kill("SIGKILL");
    await ended;
  }

  /** A browser of somebody who is signed in. */
  async signedIn(browser: Browser): Promise<BrowserContext> {
    const context = await browser.newContext({ baseURL: this.url, storageState: undefined });
    const answer = await context.request.post("/auth/sign-in", {
      data: { username: "admin", password: PASSWORD },
      headers: { Origin: this.url },
    });
    expect(answer.ok(), await answer.text()).toBe(true);
    return context;
  }

  async close() {
    if (this.berth) await stop(this.berth);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function node(name: string, number: number): string {
  return `[[nodes]]
name = "${name}"
address = "10.0.${Math.floor(number / 250)}.${(number % 250) + 1}"
endpoint = "sim://${name}"
cpus = 64
memory_mb = 524288
disk_gb = 2000
gpus = [{ type = "A100", count = 8 }]
`;
}

// A Berth of a test's own, on simulated nodes: one that may be killed and started again at the same
// address with the same data.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type APIRequestContext, type Browser, type BrowserContext, expect, test as base } from "@playwright/test";
import { PASSWORD, binary, freePort, site, stop, untilReady } from "./server";

/** Nodes enough that an answer that names them all is large. */
const NODES = 200;

export class Own {
  private berth?: ChildProcess;

  private constructor(
    readonly url: string,
    private readonly folder: string,
  ) {}

  static async open(count = NODES): Promise<Own> {
    const folder = mkdtempSync(join(tmpdir(), "berth-own-"));
    const nodes = Array.from({ length: count }, (_, number) => node(`pier-${number + 1}`, number + 1));
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

/** Tests as the administrator of such a Berth, on which the job `laid-out` runs. */
export const test = base.extend<object, { own: Own }>({
  own: [
    async ({ browser }, use) => {
      const own = await Own.open();
      const context = await own.signedIn(browser);
      await put(context.request, own.url, "laid-out", 3, 2);
      await context.close();
      await use(own);
      await own.close();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ own }, use) => use(own.url),
  context: async ({ browser, own }, use) => {
    const context = await own.signedIn(browser);
    await use(context);
    await context.close();
  },
  page: async ({ context }, use) => use(await context.newPage()),
  request: async ({ context }, use) => use(context.request),
});

/** Puts a job there that runs on such nodes until it is stopped. */
export async function put(request: APIRequestContext, url: string | undefined, jobName: string, tasks: number, gpus: number) {
  const role = { name: "worker", taskNumber: tasks, cpuNumber: 1, memoryMB: 256, gpuNumber: gpus, command: "sleep 3000" };
  const data = { jobName, image: "berth/base:latest", gpuType: "A100", taskRoles: [role] };
  const answer = await request.post("/api/v1/jobs", { headers: { Origin: url ?? "" }, data });
  expect(answer.status(), await answer.text()).toBeLessThan(300);
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
labels = { rack = "r${number % 3}" }
`;
}

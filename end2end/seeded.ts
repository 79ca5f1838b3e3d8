// The seeded cluster: what `cargo xtask serve --demo=still` shows, for tests of what a page says of a
// cluster that is used. 64 simulated nodes (one drained, one that does not answer), 6 virtual clusters,
// 12 users `demo-…`, 10 000 jobs that have ended in all ways, 62 that run and 60 that wait. Nothing there
// begins or ends by itself, so numbers can be compared with what the API says of them.
//
// A spec that wants it writes
//
//   import { expect, test } from "../seeded";
//
//   test("…", async ({ page, cluster }) => {
//     await berth.open(page, "/jobs");                      // as its administrator
//     const jobs = await cluster.get("/api/v2/jobs?state=WAITING&limit=5");
//     const state = await cluster.signedInAs("demo-ada");   // a storageState, for browser.newContext
//   });
//
// `page`, `request` and `baseURL` are then the seeded cluster's; process.env.BERTH_TEST_URL is still that
// of the empty one. The server starts when the first test asks for it and goes on until all specs have
// ended, so all of them see the same cluster: whoever changes something puts it right again, or makes
// things of his own (jobs with `sleep 1` end by themselves). Such specs are named in playwright.config.ts,
// so that they come one after the other, beside those of the engine.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type APIRequestContext, test as base, expect, request } from "@playwright/test";
import { PASSWORD, binary, freePort, signIn, site, untilReady } from "./server";

export { expect };

const RESULTS = resolve("test-results");
const NOTE = join(RESULTS, "seeded.json");

/** Where it is, and what ends it. */
interface Note {
  url: string;
  folder: string;
  pid: number;
  signedIn: string;
}

export class Cluster {
  constructor(
    readonly url: string,
    /** The storage state of its administrator. */
    readonly signedIn: string,
    private readonly client: APIRequestContext,
  ) {}

  /** What the REST API answers its administrator. */
  async get(path: string) {
    // A kept connection that the server closes at that moment is no answer.
    const answer = await this.client.get(path, { maxRetries: 2 });
    expect(answer.ok(), `${path}: ${answer.status()} ${await answer.text()}`).toBe(true);
    return answer.json();
  }

  /** The storage state of one of its users. */
  async signedInAs(name: string): Promise<string> {
    const file = join(RESULTS, `signed-in-${name}.json`);
    const set = await this.client.put(`/api/v2/users/${name}/password`, {
      headers: { Origin: this.url },
      data: { newPassword: PASSWORD },
    });
    expect(set.ok(), await set.text()).toBe(true);
    await signIn(this.url, name, file);
    return file;
  }
}

export const test = base.extend<object, { cluster: Cluster }>({
  cluster: [
    async ({}, use, { project }) => {
      if (project.name !== "seeded") throw new Error("playwright.config.ts does not name this spec among the seeded ones");
      const { url, signedIn } = await running();
      const client = await request.newContext({ baseURL: url, storageState: signedIn });
      await use(new Cluster(url, signedIn, client));
      await client.dispose();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ cluster }, use) => use(cluster.url),
  storageState: async ({ cluster }, use) => use(cluster.signedIn),
});

/** The one that runs, started if there is none. */
async function running(): Promise<Note> {
  if (existsSync(NOTE)) return JSON.parse(readFileSync(NOTE, "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "berth-seeded-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(RESULTS, "seeded.log"), "w");
  // Beyond the worker that starts it: a worker ends with the first test that fails.
  const berth = spawn(
    binary,
    ["serve", "--demo=still", "--listen", `127.0.0.1:${port}`, "--data", join(folder, "data")],
    {
      env: { ...process.env, BERTH_SITE: site, BERTH_ADMIN_PASSWORD: PASSWORD },
      stdio: ["ignore", log, log],
      detached: true,
    },
  );
  berth.unref();
  await untilReady(berth, url);
  const note = { url, folder, pid: berth.pid ?? 0, signedIn: join(RESULTS, "signed-in-seeded.json") };
  await signIn(url, "admin", note.signedIn);
  writeFileSync(NOTE, JSON.stringify(note));
  return note;
}

/** Ends it where it was started; what an earlier run has left is forgotten by `forget`. */
export async function end() {
  if (!existsSync(NOTE)) return;
  const { pid, folder }: Note = JSON.parse(readFileSync(NOTE, "utf8"));
  forget();
  process.kill(pid, "SIGTERM");
  for (let waited = 0; waited < 200 && runs(pid); waited += 1) await pause(100);
  if (runs(pid)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

export function forget() {
  rmSync(NOTE, { force: true });
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

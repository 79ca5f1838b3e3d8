// Starts one `berth serve` for all tests, with a node of its own and nothing in it, and signs in.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { request } from "@playwright/test";
import * as seeded from "./seeded";

export const PASSWORD = "a quay for tests";
const RESULTS = resolve("test-results");
const target = process.env.CARGO_TARGET_DIR ?? resolve("../target");
export const binary = process.env.BERTH_TEST_BINARY ?? join(target, "debug/berth");
export const site = process.env.BERTH_SITE ?? join(target, "site");
const engine = process.env.BERTH_TEST_ENGINE ?? "unix:///var/run/docker.sock";

export default async function start() {
  seeded.forget();
  const folder = mkdtempSync(join(tmpdir(), "berth-end2end-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(folder, "berth.toml");
  // More than the machine has: what is tested is the way of a job, not the size of the machine. Tasks
  // are on its network, since Chromium breaks off what it loads whenever a container's own network
  // comes or goes beside it (ERR_NETWORK_CHANGED). The engine's tests have them apart.
  writeFileSync(
    config,
    `allow_tasks_at_portal = true

[[nodes]]
name = "quay"
address = "127.0.0.1"
network = "host"
endpoint = "${engine}"
cpus = 32
memory_mb = 131072
disk_gb = 500
gpus = [{ type = "TITANX", count = 10 }]
gpu_runtime = "none"
`,
  );
  const data = join(folder, "data");
  const berth = spawn(
    binary,
    ["serve", "--listen", `127.0.0.1:${port}`, "--data", data, "--config", config],
    {
      env: { ...process.env, BERTH_SITE: site, BERTH_ADMIN_PASSWORD: PASSWORD },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  mkdirSync(RESULTS, { recursive: true });
  const log = createWriteStream(join(RESULTS, "berth.log"));
  berth.stdout.pipe(log);
  berth.stderr.pipe(log);
  await untilReady(berth, url);
  await signIn(url, "admin", join(RESULTS, "signed-in.json"));
  process.env.BERTH_TEST_URL = url;
  return async () => {
    await seeded.end();
    await stop(berth);
    rmSync(folder, { recursive: true, force: true });
  };
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((listening) => probe.listen(0, "127.0.0.1", listening));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

// Ready means: database, storage and control loop are well. A server that ends is not waited for.
export async function untilReady(berth: ChildProcess, url: string) {
  const deadline = Date.now() + 60_000;
  let last = "no answer";
  while (Date.now() < deadline) {
    if (berth.exitCode !== null) {
      throw new Error(`berth serve ended with ${berth.exitCode}; see test-results/berth.log`);
    }
    try {
      const answer = await fetch(`${url}/readyz`);
      if (answer.ok) return;
      last = `${answer.status} ${await answer.text()}`;
    } catch (error) {
      last = String(error);
    }
    await pause(100);
  }
  throw new Error(`berth is not ready after a minute: ${last}`);
}

/** Signs in and leaves the cookies in a file that contexts take as their `storageState`. */
export async function signIn(url: string, username: string, file: string) {
  // Without what somebody else's browser knows, which a test would give it.
  const client = await request.newContext({ baseURL: url, storageState: { cookies: [], origins: [] } });
  const answer = await client.post("/auth/sign-in", {
    data: { username, password: PASSWORD },
    headers: { Origin: url },
  });
  if (!answer.ok()) throw new Error(`signing in failed: ${answer.status()} ${await answer.text()}`);
  await client.storageState({ path: file });
  await client.dispose();
}

export async function stop(berth: ChildProcess) {
  if (berth.exitCode !== null) return;
  const ended = new Promise((resolve) => berth.once("exit", resolve));
  berth.kill("SIGTERM");
  const patience = setTimeout(() => berth.kill("SIGKILL"), 20_000);
  await ended;
  clearTimeout(patience);
}

// A Berth of its own with simulated nodes and virtual clusters: what is tested there is what pages say of GPUs.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type APIRequestContext, expect } from "@playwright/test";
import { PASSWORD, binary, freePort, site, stop, untilReady } from "./server";

// Two nodes of eight A100 and one of four V100; vision is guaranteed eight A100, lab nothing.
const nodes = [
  ["a", "A100", 8],
  ["b", "A100", 8],
  ["c", "V100", 4],
] as const;

// Whose pages the requests are said to come from.
let headers: Record<string, string> = {};

export interface Harbour {
  url: string;
  close(): Promise<void>;
}

export async function open(): Promise<Harbour> {
  const folder = mkdtempSync(join(tmpdir(), "berth-harbour-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(folder, "berth.toml");
  const node = ([name, type, count]: (typeof nodes)[number], index: number) => `[[nodes]]
name = "${name}"
address = "10.0.0.${index + 1}"
endpoint = "sim://${name}"
cpus = 64
memory_mb = 262144
gpus = [{ type = "${type}", count = ${count} }]
`;
  writeFileSync(
    config,
    `${nodes.map(node).join("")}[[virtual_clusters]]
name = "vision"
share = { gpus = { A100 = 8 } }
[[virtual_clusters]]
name = "lab"
`,
  );
  const berth = spawn(
    binary,
    ["serve", "--listen", `127.0.0.1:${port}`, "--data", join(folder, "data"), "--config", config],
    { env: { ...process.env, BERTH_SITE: site, BERTH_ADMIN_PASSWORD: PASSWORD }, stdio: "ignore" },
  );
  await untilReady(berth, url);
  headers = { Origin: url };
  return {
    url,
    async close() {
      await stop(berth);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface JobRequest {
  cluster: string;
  type: string;
  tasks?: number;
  gpus: number;
  priority?: string;
  limit?: string;
  command?: string;
}

/** The text of a job that takes GPUs. */
export function job(name: string, { cluster, type, tasks, gpus, priority, limit, command }: JobRequest): object {
  return {
    jobName: name,
    image: "berth/base:latest",
    virtualCluster: cluster,
    gpuType: type,
    extras: { berth: { priority: priority ?? "test", timeLimit: limit } },
    taskRoles: [
      {
        name: "main",
        taskNumber: tasks ?? 1,
        cpuNumber: 1,
        memoryMB: 100,
        gpuNumber: gpus,
        command: command ?? "sleep 600",
      },
    ],
  };
}

export async function put(request: APIRequestContext, name: string, what: JobRequest) {
  const answer = await request.post("/api/v1/jobs", { headers, data: job(name, what) });
  expect(answer.status(), await answer.text()).toBeLessThan(300);
}

export async function end(request: APIRequestContext, name: string) {
  await request.put(`/api/v2/jobs/admin~${name}/executionType`, { headers, data: { value: "STOP" } });
}

/** Waits until a job is in a state. */
export async function until(request: APIRequestContext, name: string, state: string) {
  const now = async () => (await (await request.get(`/api/v2/jobs/admin~${name}`)).json()).jobStatus.state;
  await expect.poll(now, { timeout: 60_000 }).toBe(state);
}

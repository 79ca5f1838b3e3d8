// When waiting jobs may start, on the seeded cluster, whose owners have had thousands of runs.
import { expect, test } from "../seeded";

/** What no past run says anything of: the job never starts as things are, or as soon as somebody acts. */
const OPEN = [
  "queued",
  "hold",
  "backoff",
  "node_down",
  "no_nodes",
  "impossible",
  "type_absent",
  "nodes_absent",
  "storage_absent",
  "ports_outside",
  "gpus_not_shared",
  "share_elsewhere",
  "level_too_small",
];

interface Job {
  username: string;
  name: string;
  waiting?: { reason: { code: string }; expected?: { earliest: number; latest?: number | null; ground: unknown } };
}

test("every waiting job that can start as things are says when, as a range with its ground", async ({ cluster }) => {
  const jobs: Job[] = await cluster.get("/api/v2/jobs?state=WAITING&limit=500");
  const seeded = jobs.filter(({ username }) => username.startsWith("demo-"));
  expect(seeded.length).toBeGreaterThanOrEqual(60);
  const may = seeded.filter(({ waiting }) => !OPEN.includes(waiting?.reason.code ?? "none"));
  expect(may.length, "most of them can start as things are").toBeGreaterThan(seeded.length / 2);
  const silent = may.filter(({ waiting }) => !waiting?.expected);
  expect(silent.map(({ username, name, waiting }) => `${username}~${name}: ${waiting?.reason.code}`)).toEqual([]);
  for (const { name, waiting } of may) {
    const { earliest, latest, ground } = waiting!.expected!;
    expect(ground, name).toBeTruthy();
    if (typeof latest === "number") expect(latest, name).toBeGreaterThanOrEqual(earliest);
  }
});

// The logs of all tasks of a job, searched at once, on the seeded cluster.
import * as berth from "../pages";
import { expect, test } from "../seeded";

test("all tasks of a job are searched at once, and stepped through one after the other", async ({ page, cluster }) => {
  const jobs: { username: string; name: string; totalTaskNumber: number }[] = await cluster.get(
    "/api/v2/jobs?state=RUNNING&limit=100",
  );
  const job = jobs.find(({ totalTaskNumber }) => totalTaskNumber > 1);
  expect(job, "some job has several tasks").toBeTruthy();
  const { username, name } = job!;
  const search = (text: string) =>
    cluster.get(`/api/v2/jobs/${username}~${name}/logs/together/search?pattern=true&text=${encodeURIComponent(text)}`);
  const truth = await search("[0-9]");
  expect(truth.all).toBe(true);
  expect(truth.tasks.filter(({ count }: { count: number }) => count > 0).length).toBeGreaterThan(1);
  expect(truth.tasks.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(truth.count);

  await berth.open(page, `/jobs/${username}/${name}/logs?task=*`);
  const field = page.getByRole("searchbox", { name: "Search the logs of all tasks" });
  await field.fill("[0-9]");
  await page.getByRole("button", { name: "Regular expression" }).click();
  await field.press("Enter");
  const found = page.locator(".log__all-found");
  const all = Number(truth.count).toLocaleString("en").replaceAll(",", "\u202f");
  await expect(found.getByRole("status")).toContainText(`1 of ${all} lines`);
  const counts = page.getByRole("list", { name: "Lines found by task" });
  for (const task of truth.tasks.slice(0, 2)) await expect(counts).toContainText(`${task.name} `);
  const current = found.locator(".log__hit[aria-current]");
  const first = truth.hits[0];
  await expect(current).toContainText(`${truth.tasks[first.task].name}:${first.line.number}`);
  await page.getByRole("button", { name: "Next match" }).click();
  const second = truth.hits[1];
  await expect(current).toContainText(`:${second.line.number}`);
  // Backwards beyond the first is the last of all tasks.
  await page.getByRole("button", { name: "Previous match" }).click();
  await page.getByRole("button", { name: "Previous match" }).click();
  await expect(found.getByRole("status")).toContainText(`${all} of ${all} lines`);
  const last = truth.tasks.findLastIndex(({ count }: { count: number }) => count > 0);
  await expect(current).toContainText(`${truth.tasks[last].name}:`);
  await expect(current).toBeInViewport();
  await berth.picture(page, "log-search-all");

  // By keys as in the log of one task: around the end, and back.
  await page.keyboard.press("n");
  await expect(found.getByRole("status")).toContainText(`1 of ${all} lines`);
  await page.keyboard.press("N");
  await expect(found.getByRole("status")).toContainText(`${all} of ${all} lines`);
  const text = page.getByRole("region", { name: "Log of all tasks" });
  const wraps = () => text.locator(".log__text").first().evaluate((line) => getComputedStyle(line).whiteSpace);
  for (const how of ["pre-wrap", "pre"]) {
    await page.keyboard.press("w");
    await expect.poll(wraps).toBe(how);
  }
  await page.setViewportSize({ width: 768, height: 900 });
  // Each way to a line can be hit with a finger.
  for (const link of [text.locator(".log__task").first(), current.getByRole("link")]) {
    const box = (await link.boundingBox())!;
    expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(24);
  }

  // A hit leads to its place in its task's log.
  await current.getByRole("link").click();
  await expect(page).toHaveURL(new RegExp(`task=${truth.tasks[last].name}&attempt=\\d+&line=\\d+$`));

  await berth.open(page, `/jobs/${username}/${name}/logs?task=*`);
  await field.fill("nowhere at all");
  await field.press("Enter");
  await expect(found.getByRole("status")).toContainText("Nothing found");
});

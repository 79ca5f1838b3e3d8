import * as berth from "../pages";
import { expect, test } from "../seeded";

/** How many jobs are in a state. */
const count = (state: string) => `/api/v2/jobs?state=${state}&limit=1&withTotalCount=true`;

test("a seeded cluster has what there is to see, and nothing begins by itself", async ({ cluster, page }) => {
  const condition = async (name: string) => (await cluster.get(`/api/v2/nodes/${name}`)).condition;
  expect(await cluster.get("/api/v2/nodes")).toHaveLength(40);
  await expect.poll(() => condition("sim-titanx-16")).toBe("draining");
  await expect.poll(() => condition("sim-a100-01")).toBe("ready");
  await expect.poll(() => condition("sim-v100-14")).toBe("unreachable");
  expect((await cluster.get(count("RUNNING"))).totalCount).toBe(44);
  expect((await cluster.get(count("WAITING"))).totalCount).toBe(60);
  expect((await cluster.get(count("FAILED"))).totalCount).toBeGreaterThan(1_000);
  await berth.open(page, "/jobs?all=1");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator("[data-state=WAITING]").first()).toBeVisible();
});

test("on a phone a waiting job is named on one line and says its place below", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 800 });
  await berth.open(page, "/jobs?all=1&q=state:waiting");
  const row = page.locator("tbody tr").first();
  const name = (await row.locator(".job-name").boundingBox())!;
  const place = (await row.locator("[data-state=WAITING]").filter({ hasText: "#" }).boundingBox())!;
  expect(name.height).toBeLessThan(24);
  expect(place.y).toBeGreaterThan(name.y + name.height);
  expect(place.x + place.width).toBeLessThanOrEqual(320);
});

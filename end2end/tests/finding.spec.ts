// How jobs and nodes are found: the filter of the list, many jobs at once, the map and the table of nodes.
import { type Locator, type Page, expect } from "@playwright/test";
import { Own, put, test } from "../own";
import * as berth from "../pages";

async function running(page: Page) {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
}

test("a filter that cannot be read shows nothing and says what is allowed", async ({ page, request }) => {
  await berth.open(page, "/jobs?all=1&q=sate:failed+gpu:many+laid");
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("“sate:failed” is no filter");
  await expect(alert).toContainText("“gpu:many” cannot be read. Allowed: 4, >=4, >4, <=4 or <4.");
  await expect(page.locator(".token--wrong")).toHaveCount(2);
  await expect(page.getByRole("table")).toHaveCount(0);
  await page.getByRole("link", { name: "Take sate:failed out of the filter" }).click();
  await expect(page.locator(".token--wrong")).toHaveCount(1);
  await page.getByRole("link", { name: "Take gpu:many out of the filter" }).click();
  await expect(page).toHaveURL(/\?q=laid&all=1$/);
  await expect(page.getByRole("combobox", { name: "Filter jobs" })).toHaveValue("laid");
  await expect(alert).toHaveCount(0);
  await expect(page.getByRole("link", { name: "laid-out", exact: true })).toBeVisible();
  const refused = await request.get("/api/v2/jobs?q=sate:failed");
  expect(refused.status()).toBe(400);
  expect(await refused.text()).toContain("allowed are state:");
});

test("tokens find what they say", async ({ page }) => {
  await running(page);
  const shown = page.getByRole("link", { name: "laid-out", exact: true });
  for (const [filter, found] of [
    ["gpu:6", 1],
    ["gpu:>6", 0],
    ["gpu:>=2 type:A100", 1],
    ["type:A10", 0],
    ["priority:test name:laid", 1],
    ["priority:prod", 0],
    ["since:1h until:2100-01-01", 1],
    ["until:2020-01-01", 0],
    ["user:me state:running,waiting,preparing", 1],
  ] as const) {
    await berth.open(page, `/jobs?all=1&q=${encodeURIComponent(`laid-out ${filter}`)}`);
    await expect(page.locator(".tokens li").first()).toBeVisible();
    await expect(shown, filter).toHaveCount(found);
  }
  await berth.open(page, "/jobs/admin/laid-out/tasks");
  const node = await page.locator(".table--tasks a[href^='/nodes/']").first().textContent();
  await berth.open(page, `/jobs?all=1&q=node:${node}`);
  await expect(shown).toHaveCount(1);
});

test("a tag is put on a job, finds it, and is taken off", async ({ page }) => {
  await running(page);
  await page.getByRole("textbox", { name: "New tag" }).fill("best run");
  await page.getByRole("button", { name: "Add tag" }).click();
  await expect(page.getByRole("textbox", { name: "New tag" })).toHaveValue("");
  const tag = page.getByRole("link", { name: "best run", exact: true });
  await tag.click();
  await expect(page).toHaveURL(/q=tag(%3A|:)%22best(\+|%20)run%22$/);
  await expect(page.locator(".tokens li")).toHaveCount(1);
  await page.getByRole("link", { name: "laid-out", exact: true }).click();
  await page.getByRole("button", { name: "Take the tag best run off" }).click();
  await expect(tag).toHaveCount(0);
});

test("the field offers what may be written next", async ({ page }) => {
  await berth.open(page, "/jobs");
  const field = page.getByRole("combobox", { name: "Filter jobs" });
  await field.fill("st");
  await page.getByRole("option", { name: /^state:/ }).click();
  await expect(field).toHaveValue("state:");
  await page.getByRole("option", { name: "state:failed" }).click();
  await expect(field).toHaveValue("state:failed ");
  await expect(field).toBeFocused();
  await field.press("Enter");
  await expect(page).toHaveURL(/q=state(%3A|:)failed/);
  // Nothing lies over the list any more.
  await expect(page.locator(".suggestions")).toBeHidden();
});

test("names are offered behind their keys, and chosen by keys alone", async ({ page, request, baseURL }) => {
  const headers = { Origin: baseURL ?? "" };
  const tagged = await request.put("/api/v2/jobs/admin~laid-out/tag", { headers, data: { value: "best run" } });
  expect(tagged.ok(), await tagged.text()).toBe(true);
  await berth.open(page, "/jobs");
  const field = page.getByRole("combobox", { name: "Filter jobs" });
  const options = page.getByRole("listbox", { name: "What may be written next" }).getByRole("option");
  for (const [typed, option] of [
    ["vc:", "vc:default"],
    ["type:a1", "type:A100"],
    ["node:r-177", "node:pier-177"],
    ["user:adm", "user:admin"],
    ["name:laid", "name:laid-out"],
    ["tag:be", 'tag:"best run"'],
  ] as const) {
    await field.fill(typed);
    await expect(options.filter({ hasText: option }).first()).toBeVisible();
  }
  await expect(field).toHaveAttribute("aria-expanded", "true");
  await field.press("ArrowDown");
  await expect(options.first()).toHaveAttribute("aria-selected", "true");
  await expect(field).toHaveAttribute("aria-activedescendant", "offer-0");
  await field.press("Enter");
  await expect(field).toHaveValue('tag:"best run" ');
  await field.press("ArrowUp");
  await expect(options.last()).toHaveAttribute("aria-selected", "true");
  await field.press("Escape");
  await expect(options).toHaveCount(0);
  await expect(field).toHaveValue('tag:"best run" ');
  await expect(field).toHaveAttribute("aria-expanded", "false");
  await field.press("Enter");
  await expect(page).toHaveURL(/q=tag(%3A|:)%22best(\+|%20)run%22/);
  await expect(page.getByRole("link", { name: "laid-out", exact: true })).toBeVisible();
  const untagged = await request.delete("/api/v2/jobs/admin~laid-out/tag", { headers, data: { value: "best run" } });
  expect(untagged.ok(), await untagged.text()).toBe(true);
});

test("pages, jobs and nodes are found by what they are called, from any page", async ({ page }) => {
  await berth.open(page, "/");
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Find a page, a job or a node" });
  await expect(field).toBeFocused();
  await field.fill("laid");
  await expect(page.getByRole("option", { name: "admin~laid-out" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/jobs\/admin\/laid-out$/);
  await expect(field).toBeHidden();
  await page.getByRole("button", { name: /^Find/ }).click();
  await field.fill("clus");
  await page.getByRole("option", { name: "Virtual clusters" }).click();
  await expect(page).toHaveURL(/\/clusters$/);
});

test("what is typed outlives every change of the list", async ({ page, request, baseURL }) => {
  await berth.open(page, "/jobs");
  const field = page.getByRole("combobox", { name: "Filter jobs" });
  await field.fill("state:ru");
  await put(request, baseURL, "comes-meanwhile", 1, 1);
  await expect(page.getByRole("link", { name: "comes-meanwhile" })).toBeVisible();
  await expect(field).toHaveValue("state:ru");
  await expect(field).toBeFocused();
  await expect(page.getByRole("option", { name: "state:running" })).toBeVisible();

  await berth.open(page, "/nodes");
  const search = page.getByRole("searchbox", { name: "Search nodes" });
  await search.fill("pier-1");
  const summary = page.getByText("GPUs allocated");
  const before = (await summary.textContent()) ?? "";
  await put(request, baseURL, "comes-too", 1, 1);
  await expect(summary).not.toHaveText(before);
  await expect(search).toHaveValue("pier-1");
  await expect(search).toBeFocused();
});

test("many jobs are chosen by a range, named before they are stopped, and pages have numbers", async ({
  page,
  request,
  baseURL,
}) => {
  test.setTimeout(180_000);
  const name = (at: number) => `many-${String(at).padStart(2, "0")}`;
  for (let at = 0; at < 52; at += 1) await put(request, baseURL, name(at), 1, 1);
  await berth.open(page, "/jobs?q=name:many-&sort=name");
  const pages = page.getByRole("navigation", { name: "Pages" });
  await expect(pages.getByRole("link", { name: "Page 2" })).toHaveText("2");
  await page.getByRole("checkbox", { name: `Select admin~${name(1)}` }).click();
  await page.getByRole("checkbox", { name: `Select admin~${name(20)}` }).click({ modifiers: ["Shift"] });
  await expect(page.getByText("20 selected")).toBeVisible();
  await pages.getByRole("link", { name: "Page 2" }).click();
  await expect(page.getByText("20 selected · 20 not on this page")).toBeVisible();
  await page.getByRole("checkbox", { name: `Select admin~${name(51)}` }).click();
  await page.getByRole("button", { name: "Stop 21 jobs" }).first().click();
  const question = page.getByRole("dialog");
  await expect(question).toContainText(`admin~${name(1)}`);
  await expect(question).toContainText("and 11 more");
  await berth.picture(page, "stop-many");
  await question.getByRole("button", { name: "Stop 21 jobs" }).click();
  await expect(page.getByText("21 jobs were asked to stop")).toBeVisible();
  const still = async () => {
    const jobs = await request.get("/api/v2/jobs?q=name:many-+state:waiting,running,preparing&limit=100");
    return (await jobs.json()).length;
  };
  await expect.poll(still, { timeout: 60_000 }).toBe(31);
});

test("the map shows GPUs with what their colours mean", async ({ page }) => {
  await running(page);
  await berth.open(page, "/nodes?q=pier");
  await expect(page.getByText(/of 1\s600 GPUs allocated/)).toBeVisible();
  await expect(page.locator(".map .gpu")).toHaveCount(40 * 8);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Page 5" }).click();
  await expect(page).toHaveURL(/page=5/);
  await expect(page.locator(".map .gpu")).toHaveCount(40 * 8);

  await berth.open(page, "/nodes?q=laid-out");
  const mine = page.locator(".map").getByRole("link", { name: /^GPU \d, A100: admin~laid-out( ·|$)/ });
  await expect(mine).toHaveCount(6);
  const box = await mine.first().boundingBox();
  expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  const colour = (cell: Locator) => cell.evaluate((element) => getComputedStyle(element).backgroundColor);
  const legend = page.getByRole("list", { name: "What the colours mean" });
  for (const [by, entry] of [["Share allocated", "Allocated"], ["Job", "admin~laid-out"], ["User", "admin"]] as const) {
    await page.getByRole("navigation", { name: "Colour" }).getByRole("link", { name: by }).click();
    const said = legend.getByRole("listitem").filter({ hasText: new RegExp(`^ ?${entry}( ·|$)`) });
    await expect(said).toBeVisible();
    await expect.poll(() => colour(mine.first())).toBe(await colour(said.locator(".gpu")));
  }
  await berth.picture(page, "nodes-by-user");
});

test("nodes stand in groups, which the address keeps", async ({ page }) => {
  await berth.open(page, "/nodes?q=pier-12&by=user");
  await page.getByRole("navigation", { name: "Group" }).getByRole("link", { name: "rack" }).click();
  const groups = page.locator(".map__group");
  await expect(groups).toHaveText(["r0", "r1", "r2"]);
  await page.reload();
  await expect(page).toHaveURL(/q=pier-12&by=user&group=label:rack/);
  await expect(groups).toHaveText(["r0", "r1", "r2"]);
});

test("the table of nodes says the same as the map, sorted and searched", async ({ page }) => {
  await running(page);
  await berth.open(page, "/nodes?q=pier&view=table");
  const names = page.locator("tbody th a");
  await expect(names.first()).toHaveText("pier-1");
  await expect(names.nth(1)).toHaveText("pier-2");
  await expect(names.nth(9)).toHaveText("pier-10");
  await berth.open(page, "/nodes?q=pier&view=table&sort=free");
  const rows = page.locator("tbody tr");
  await expect(rows).toHaveCount(40);
  const texts = await rows.allTextContents();
  const held = texts.map((text) => Number(/admin~laid-out\s×\s(\d+)/.exec(text)?.[1] ?? 0));
  expect(held.reduce((sum, gpus) => sum + gpus, 0)).toBe(6);
  const free = page.getByRole("columnheader", { name: "Free GPUs" });
  await expect(free).toHaveAttribute("aria-sort", "ascending");
  await expect(rows.first()).not.toContainText("8 of 8");
  await free.getByRole("link").click();
  await expect(page).toHaveURL(/sort=-free/);
  await expect(free).toHaveAttribute("aria-sort", "descending");
  await expect(rows.first()).toContainText("8 of 8");
  await berth.open(page, "/nodes?q=nothing-like-it");
  await expect(page.getByText("No node matches")).toBeVisible();
});

test("the map and the table of very many nodes are small pages", async ({ browser }) => {
  test.setTimeout(240_000);
  const large = await Own.open(1_250);
  const context = await large.signedIn(browser);
  try {
    await put(context.request, large.url, "fills-many-of-them", 320, 8);
    const state = async () =>
      (await (await context.request.get("/api/v2/jobs/admin~fills-many-of-them")).json()).jobStatus.state;
    await expect.poll(state, { timeout: 120_000 }).toBe("RUNNING");
    const page = await context.newPage();
    for (const path of ["/nodes", "/nodes?sort=-tasks", "/nodes?sort=-tasks&by=job", "/nodes?view=table&sort=-tasks"]) {
      const html = await (await context.request.get(path)).text();
      expect(html.length, path).toBeLessThan(100_000);
      await berth.open(page, path);
      await expect(page.getByText(/of 10\s000 GPUs allocated/)).toBeVisible();
      expect(await page.evaluate(() => document.querySelectorAll("*").length), path).toBeLessThan(3_000);
    }
  } finally {
    await context.close();
    await large.close();
  }
});

test("what ticks a node stands before its name, in columns and on cards", async ({ page }) => {
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await berth.open(page, "/admin/nodes?q=pier-19");
    const tick = (await page.getByRole("checkbox", { name: "Select pier-190" }).boundingBox())!;
    const name = (await page.getByRole("link", { name: "pier-190", exact: true }).boundingBox())!;
    expect(tick.x + tick.width, `at ${width}`).toBeLessThanOrEqual(name.x);
    expect(Math.abs(tick.y + tick.height / 2 - name.y - name.height / 2), `at ${width}`).toBeLessThan(12);
  }
  await page.getByRole("checkbox", { name: "Select all nodes on this page" }).click();
  await expect(page.getByText("11 selected")).toBeVisible();
});

test("several nodes are ticked by a range and drained by one question that names them", async ({ page, request, baseURL }) => {
  await berth.open(page, "/admin/nodes?q=pier-19");
  const drained = ["pier-190", "pier-191", "pier-192"];
  await page.getByRole("checkbox", { name: "Select pier-190" }).click();
  await page.getByRole("checkbox", { name: "Select pier-192" }).click({ modifiers: ["Shift"] });
  await expect(page.getByText("3 selected")).toBeVisible();
  await page.getByRole("button", { name: "Drain 3 nodes" }).click();
  const question = page.getByRole("dialog", { name: "Drain 3 nodes" });
  await expect(question).toContainText(drained.join(", "));
  await berth.picture(page, "drain-many");
  await question.getByRole("button", { name: "Drain 3 nodes" }).click();
  await expect(question).toBeHidden();
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  for (const name of drained) {
    await expect(row(name).getByRole("button", { name: "Take tasks again" })).toBeVisible();
    await expect(row(name).getByRole("checkbox")).toHaveCount(0);
  }
  await expect(row("pier-193").getByRole("button", { name: "Drain", exact: true })).toBeVisible();
  await expect(page.getByText("3 selected")).toBeHidden();
  for (const name of drained) {
    const headers = { Origin: baseURL ?? "", Accept: "application/json" };
    const again = await request.post("/fn/nodes/drain", { headers, form: { name, drain: "off" } });
    expect(again.ok(), await again.text()).toBe(true);
  }
});

test("an address of the nodes that cannot be read shows nothing and says what is allowed", async ({ page }) => {
  await berth.open(page, "/nodes?only=fre&by=magic");
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("“only=fre” cannot be read. Allowed: free, draining, unreachable, faulty, idle.");
  await expect(alert).toContainText("“by=magic” cannot be read. Allowed: held, job, user, load, memory, temperature.");
  await expect(page.locator(".map .gpu")).toHaveCount(0);
  await alert.getByRole("link").click();
  await expect(page).toHaveURL(/\/nodes$/);
  await expect(alert).toHaveCount(0);
  await expect(page.locator(".map .gpu")).toHaveCount(40 * 8);
});

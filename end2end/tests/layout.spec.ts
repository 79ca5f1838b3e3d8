// How the pages hold together: widths, lines, targets, dead ends, the filter of jobs and the map of nodes.
import { type APIRequestContext, type Browser, type Locator, type Page, expect, request as apart, test } from "@playwright/test";
import * as berth from "../pages";
import { PASSWORD } from "../server";

const WIDTHS = [320, 360, 768, 1440, 2560];
const PAGES = [
  "/",
  "/jobs?all=1",
  "/jobs?q=sate:failed+gpu:many",
  "/jobs/admin/laid-out",
  "/jobs/admin/laid-out/tasks",
  "/jobs/admin/laid-out/logs",
  "/jobs/admin/laid-out/connect",
  "/jobs/admin/laid-out/terminal",
  "/jobs/admin/laid-out/events",
  "/jobs/admin/laid-out/config",
  "/submit",
  "/files",
  "/clusters",
  "/nodes",
  "/nodes?view=table",
  "/nodes/breakwater-00",
  "/admin",
  "/admin/nodes",
  "/admin/clusters",
  "/admin/audit",
  "/profile",
  "/no/such/page",
];

/** Simulated nodes of eight GPUs, enough for several pages of them. */
const NODES = 70;

async function stop(request: APIRequestContext, baseURL: string | undefined, name: string) {
  const path = `/api/v2/jobs/admin~${name}/executionType`;
  await request.put(path, { headers: { Origin: baseURL ?? "" }, data: { value: "STOP" } });
}

test.beforeAll(async ({ request, baseURL }) => {
  const headers = { Origin: baseURL ?? "" };
  for (let at = 0; at < NODES; at += 1) {
    const name = `breakwater-${String(at).padStart(2, "0")}`;
    const node = {
      name,
      address: `10.9.0.${at + 1}`,
      endpoint: `sim://${name}`,
      cpus: 64,
      memory_mb: 262144,
      disk_gb: 1000,
      gpus: [{ type: "H100", count: 8 }],
      gpu_runtime: "none",
      labels: { rack: `r${at % 3}` },
    };
    const answer = await request.put(`/api/v2/nodes/${name}`, { headers, data: node });
    expect(answer.status(), await answer.text()).toBeLessThan(300);
  }
  await putSimulated(request, baseURL, "laid-out", 3, 2);
});

/** Puts a job there that runs on simulated nodes until it is stopped. */
async function putSimulated(
  request: APIRequestContext,
  baseURL: string | undefined,
  jobName: string,
  taskNumber: number,
  gpuNumber: number,
) {
  const role = { name: "worker", taskNumber, cpuNumber: 1, memoryMB: 256, gpuNumber, command: "sleep 3000" };
  const job = { jobName, image: "berth/base:latest", gpuType: "H100", taskRoles: [role] };
  const answer = await request.post("/api/v1/jobs", { headers: { Origin: baseURL ?? "" }, data: job });
  // It may be there from before: a test that fails starts the tests after it anew.
  if (answer.status() !== 409) expect(answer.status(), await answer.text()).toBeLessThan(300);
}

/** By how much the page is wider than the window, and what sticks out. */
function overflow(page: Page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element: Element | null): boolean =>
      element !== null &&
      (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const out = [...document.querySelectorAll("body *")].filter(
      (element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement),
    );
    return {
      by: document.documentElement.scrollWidth - width,
      what: out.slice(0, 3).map((element) => element.outerHTML.slice(0, 120)),
    };
  });
}

/** How many lines a text takes. */
function lines(text: Locator) {
  return text.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
  });
}

for (const width of WIDTHS) {
  for (const language of ["en", "zh"] as const) {
    test(`no page scrolls sideways at ${width} px, ${language}`, async ({ page, baseURL }) => {
      test.setTimeout(240_000);
      await page.context().addCookies([{ name: "berth_language", value: language, url: baseURL }]);
      await page.setViewportSize({ width, height: 800 });
      for (const path of PAGES) {
        await berth.open(page, path);
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        expect.soft(await overflow(page), `${path} at ${width}`).toEqual({ by: 0, what: [] });
      }
    });
  }
}

test("addresses of tasks are one line, whatever the width", async ({ page }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/jobs/admin/laid-out/tasks");
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const addresses = page.locator(".table--tasks .copy__text");
    await expect(addresses).toHaveCount(3);
    for (const address of await addresses.all()) expect(await lines(address), `at ${width}`).toBe(1);
  }
});

test("on a phone each row of a table is a card, everything of it in sight", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await berth.open(page, "/jobs/admin/laid-out/tasks");
  const row = page.getByRole("row", { name: /worker-0/ });
  const log = row.getByRole("link", { name: "Open the log" });
  for (const part of [row.getByRole("rowheader"), row.getByRole("cell").first(), log]) {
    const box = await part.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
  }
  // The cells stand below each other, each with the name of its column.
  const tops = await row.getByRole("cell").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(tops.length);
  const label = row.getByRole("cell").first();
  expect(await label.evaluate((cell) => getComputedStyle(cell, "::before").content)).toContain("State");
});

test("on a phone the bar's sheet leads to everything else", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await berth.open(page, "/");
  const bar = page.getByRole("navigation", { name: "Main" });
  await bar.getByText("More", { exact: true }).click();
  for (const name of ["Files", "Virtual clusters", "Administration", "Profile"]) {
    await expect(bar.getByRole("link", { name })).toBeVisible();
  }
  await bar.getByRole("button", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await bar.getByRole("button", { name: "System" }).click();
  await expect(bar.getByRole("button", { name: "Sign out" })).toBeVisible();
  await berth.picture(page, "more");
  await bar.getByRole("link", { name: "Administration" }).click();
  await expect(page).toHaveURL(/\/admin/);
  await expect(bar.getByRole("link", { name: "Profile" })).toBeHidden();
});

test("the way to submit stays in sight on small screens", async ({ page }) => {
  for (const size of [{ width: 360, height: 640 }, { width: 768, height: 800 }]) {
    await page.setViewportSize(size);
    await berth.open(page, "/submit");
    const button = page.getByRole("button", { name: /^Submit/ });
    await expect(button).toBeInViewport({ ratio: 1 });
    // Nothing lies over it.
    await button.click({ trial: true });
  }
});

test("a job or a node that does not exist is one sentence and a way on", async ({ page }) => {
  for (const [path, words] of [
    ["/jobs/nobody/none", "nobody has no job named none"],
    ["/jobs/nobody/none/logs", "nobody has no job named none"],
    ["/nodes/nowhere", "There is no node named nowhere"],
  ] as const) {
    const answer = await page.goto(path);
    expect(answer?.status(), path).toBe(404);
    await expect(page.getByRole("heading", { level: 1, name: words })).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(page.getByRole("navigation", { name: "Parts of this job" })).toHaveCount(0);
    await expect(page.getByRole("main").getByRole("link")).toHaveCount(1);
  }
});

/** Somebody who owns nothing. */
async function stranger(browser: Browser, admin: APIRequestContext, baseURL: string | undefined) {
  const headers = { Origin: baseURL ?? "" };
  const name = `stranger-${Date.now()}`;
  const made = await admin.post("/api/v2/users", { headers, data: { username: name, password: PASSWORD } });
  expect(made.status(), await made.text()).toBeLessThan(300);
  const client = await apart.newContext({ baseURL, storageState: { cookies: [], origins: [] } });
  const answer = await client.post("/auth/sign-in", { headers, data: { username: name, password: PASSWORD } });
  expect(answer.ok()).toBe(true);
  return browser.newContext({ storageState: await client.storageState() });
}

test("the log of somebody else is refused once", async ({ browser, request, baseURL }) => {
  const context = await stranger(browser, request, baseURL);
  const page = await context.newPage();
  await page.goto(`${baseURL}/jobs/admin/laid-out/logs`);
  await expect(page.getByText("Only the owner and administrators read this job's logs.")).toHaveCount(1);
  await expect(page.getByText("This could not be loaded")).toHaveCount(0);
  await context.close();
});

test("a link to a terminal opens no shell before one asks for it", async ({ page, request }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  const opened = async () => {
    const entries: { action: string; object: string }[] = await (await request.get("/api/v2/audit")).json();
    return entries.filter(({ action, object }) => /terminal/i.test(action) && object.includes("laid-out")).length;
  };
  const before = await opened();
  await berth.open(page, "/jobs/admin/laid-out/terminal?task=worker-2");
  await expect(page.getByRole("combobox", { name: "Task" })).toHaveValue("worker-2");
  await expect(page.getByRole("button", { name: "Open a terminal" })).toBeVisible();
  await expect(page.getByRole("region", { name: /^Terminal of/ })).toHaveCount(0);
  expect(await opened()).toBe(before);
});

test("a filter that cannot be read shows nothing and says what is allowed", async ({ page, request }) => {
  await berth.open(page, "/jobs?all=1&q=sate:failed+gpu:many+laid");
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("“sate:failed” is no filter");
  await expect(alert).toContainText("“gpu:many” cannot be read. Allowed: 4, >=4, >4, <=4 or <4.");
  await expect(page.locator(".token--wrong")).toHaveCount(2);
  await expect(page.getByRole("table")).toHaveCount(0);
  await page.getByRole("link", { name: "Take sate:failed out of the filter" }).click();
  await page.getByRole("link", { name: "Take gpu:many out of the filter" }).click();
  await expect(page).toHaveURL(/\?q=laid&all=1$/);
  await expect(page.getByRole("link", { name: "laid-out" })).toBeVisible();
  const refused = await request.get("/api/v2/jobs?q=sate:failed");
  expect(refused.status()).toBe(400);
  expect(await refused.text()).toContain("allowed are state:");
});

test("tokens find what they say", async ({ page }) => {
  const shown = page.getByRole("link", { name: "laid-out", exact: true });
  for (const [filter, found] of [
    ["gpu:6", 1],
    ["gpu:>6", 0],
    ["gpu:>=2 type:H100", 1],
    ["type:H10", 0],
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

test("the field offers what may be written next", async ({ page }) => {
  await berth.open(page, "/jobs");
  const field = page.getByRole("searchbox", { name: "Filter jobs" });
  await field.fill("st");
  await page.getByRole("button", { name: /^state:/ }).click();
  await expect(field).toHaveValue("state:");
  await page.getByRole("button", { name: "state:failed" }).click();
  await expect(field).toHaveValue("state:failed ");
  await expect(field).toBeFocused();
  await field.press("Enter");
  await expect(page).toHaveURL(/q=state%3Afailed|q=state:failed/);
});

test("many jobs are chosen by a range, named before they are stopped, and pages have numbers", async ({
  page,
  request,
  baseURL,
}) => {
  test.setTimeout(180_000);
  const name = (at: number) => `many-${String(at).padStart(2, "0")}`;
  for (let at = 0; at < 52; at += 1) await putSimulated(request, baseURL, name(at), 1, 1);
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
  await expect.poll(still).toBe(31);
  for (let at = 0; at < 52; at += 1) await stop(request, baseURL, name(at));
});

test("the map shows every GPU with what its colour means, and not more than the browser bears", async ({ page }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/nodes?q=breakwater");
  await expect(page.getByText(`of ${NODES * 8} GPUs given away`)).toBeVisible();
  await expect(page.locator(".map .gpu")).toHaveCount(NODES * 8);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(3000);
  const mine = page.locator(".map").getByRole("link", { name: /^GPU \d, H100: admin~laid-out$/ });
  await expect(mine).toHaveCount(6);
  const box = await mine.first().boundingBox();
  expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);

  const colour = (cell: Locator) => cell.evaluate((element) => getComputedStyle(element).backgroundColor);
  const legend = page.getByRole("list", { name: "What the colours mean" });
  for (const [by, entry] of [["Share given away", "Given away"], ["Job", "admin~laid-out"], ["User", "admin"]] as const) {
    await page.getByRole("navigation", { name: "Colour" }).getByRole("link", { name: by }).click();
    await expect(legend).toContainText(entry);
    const said = legend.getByRole("listitem").filter({ hasText: new RegExp(`^ ?${entry}( ·|$)`) });
    await expect.poll(async () => colour(mine.first())).toBe(await colour(said.locator(".gpu")));
  }
  await berth.picture(page, "nodes-by-user");
  await page.getByRole("navigation", { name: "Group" }).getByRole("link", { name: "rack" }).click();
  await expect(page.getByRole("heading", { level: 2 })).toHaveText(["r0", "r1", "r2"]);
  await page.reload();
  await expect(page).toHaveURL(/q=breakwater.*by=user.*group=label:rack/);
  await expect(page.getByRole("heading", { level: 2 })).toHaveText(["r0", "r1", "r2"]);
});

test("the table of nodes says the same as the map, sorted and searched", async ({ page }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/nodes?q=laid-out&view=table");
  const rows = page.locator("tbody tr");
  await expect(rows.first().getByRole("link", { name: "admin~laid-out" })).toBeVisible();
  const held = await rows.evaluateAll((rows) => rows.map((row) => Number(/(\d+) of 8/.exec(row.textContent ?? "")?.[1])));
  expect(held.reduce((sum, free) => sum + 8 - free, 0)).toBe(6);
  await berth.open(page, "/nodes?q=breakwater&view=table");
  await page.getByRole("link", { name: "Free GPUs" }).click();
  await expect(page).toHaveURL(/sort=-free/);
  await expect(page.getByRole("columnheader", { name: "Free GPUs" })).toHaveAttribute("aria-sort", "descending");
  await expect(rows.first()).toContainText("8 of 8");
  await page.getByRole("link", { name: "Free GPUs" }).click();
  await expect(rows.first()).not.toContainText("8 of 8");
  await berth.open(page, "/nodes?q=nothing-like-it");
  await expect(page.getByText("No node matches")).toBeVisible();
});

test("Back finds a list where it was left", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 600 });
  await berth.open(page, "/nodes?q=breakwater&view=table");
  await page.mouse.wheel(0, 900);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(500);
  const left = await page.evaluate(() => window.scrollY);
  const seen = page.locator("tbody tr").filter({ visible: true });
  const link = await seen.evaluateAll((rows) => {
    const inside = rows.find((row) => row.getBoundingClientRect().top > 200);
    return inside?.querySelector("a")?.getAttribute("href");
  });
  await page.locator(`tbody a[href="${link}"]`).click();
  await expect(page).toHaveURL(new RegExp(`${link}$`));
  await expect(page.getByRole("heading", { level: 1, name: link?.split("/").at(-1) })).toBeVisible();
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(0);
  await page.goBack();
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(left);
});

test("the home page's counters stand in full rows and its meters in one column", async ({ page }) => {
  await berth.open(page, "/");
  for (const width of [360, 1280, 1440, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    const tops = await page.locator(".tiles > li").evaluateAll((tiles) => tiles.map((tile) => tile.getBoundingClientRect().top));
    const rows = new Map<number, number>();
    for (const top of tops) rows.set(top, (rows.get(top) ?? 0) + 1);
    // No counter is left alone below the others.
    if (rows.size > 1) expect(Math.min(...rows.values()), `at ${width}`).toBeGreaterThan(1);
  }
});

test("a wide screen is used", async ({ page }) => {
  await page.setViewportSize({ width: 3840, height: 1600 });
  for (const path of ["/jobs?all=1", "/nodes?view=table", "/clusters"]) {
    await berth.open(page, path);
    const box = await page.getByRole("main").boundingBox();
    expect(box?.width, path).toBeGreaterThan(2800);
  }
});

test("on paper there is the page alone", async ({ page }) => {
  await berth.open(page, "/jobs?all=1");
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await expect(page.getByRole("banner")).toBeHidden();
  await expect(page.locator(".sidebar")).toBeHidden();
  await expect(page.getByRole("table")).toBeVisible();
  expect(await page.evaluate(() => getComputedStyle(document.body).color)).toBe("rgb(0, 0, 0)");
});

test("with forced colours what only a colour says keeps it", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await berth.open(page, "/nodes?q=laid-out");
  const mine = page.locator(".map .gpu--ramp-4").first();
  await expect(mine).toBeVisible();
  expect(await mine.evaluate((cell) => getComputedStyle(cell).forcedColorAdjust)).toBe("none");
});

test("tables of the administration are searched, and the way to add is above them", async ({ page }) => {
  await berth.open(page, "/admin/nodes");
  const rows = page.locator("tbody tr").filter({ visible: true });
  await page.getByRole("searchbox", { name: "Search this table" }).fill("breakwater-07");
  await expect(rows).toHaveCount(1);
  await expect(rows.first()).toContainText("breakwater-07");
  const add = page.getByRole("link", { name: "Add node" });
  await expect(add).toBeInViewport();
  await add.click();
  await expect(page.getByRole("heading", { name: "Add node" })).toBeInViewport();
});

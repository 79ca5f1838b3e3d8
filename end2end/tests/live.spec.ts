import { type BrowserContext, type Page, expect, test } from "@playwright/test";
import { Own } from "../own";
import * as berth from "../pages";

let own: Own;
let context: BrowserContext;

test.beforeAll(async () => {
  own = await Own.open();
});

test.afterAll(async () => {
  await own.close();
});

test.beforeEach(async ({ browser }) => {
  context = await own.signedIn(browser);
});

test.afterEach(async () => {
  await context.close();
});

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await berth.open(page, path);
  return page;
}

function put(name: string) {
  return berth.put(context.request, own.url, name, "sleep 3600");
}

function row(page: Page, name: string) {
  return page.getByRole("row").filter({ hasText: name });
}

test("an outage leaves the page as it was, says so, and ends by itself", async () => {
  await put("stays");
  const page = await open("/jobs");
  await expect(row(page, "stays")).toBeVisible();
  await berth.mark(page);
  const before = await row(page, "stays").boundingBox();
  await own.kill();
  const banner = page.getByText("The server has not answered for");
  await expect(banner).toBeInViewport();
  await expect(row(page, "stays")).toBeVisible();
  await expect(page.getByText("This could not be loaded")).toHaveCount(0);
  const during = await row(page, "stays").boundingBox();
  expect(during?.height).toBe(before?.height);
  expect(during?.width).toBe(before?.width);

  const places = page.getByRole("navigation", { name: "Main" }).first();
  await places.getByRole("link", { name: "Nodes" }).click();
  await expect(page.getByText("“Nodes” opens as soon as it answers.")).toBeInViewport();
  await expect(page).toHaveURL(/\/jobs$/);
  await expect(places.getByRole("link", { name: "Jobs" })).toHaveAttribute("aria-current", "page");
  await berth.picture(page, "outage");

  await own.start();
  // It is to be back within two seconds of the server; the rest is for a slow machine.
  const back = Date.now();
  await expect(banner).toHaveCount(0, { timeout: 4_000 });
  await expect(page).toHaveURL(/\/nodes$/);
  await expect(page.getByRole("link", { name: "pier-1", exact: true })).toBeVisible();
  expect(Date.now() - back, "back after so many milliseconds").toBeLessThan(6_000);
  await berth.expectNoReload(page);
});

test("what fails to be read anew stays, dimmed and with its time", async () => {
  await put("kept");
  const page = await open("/jobs");
  await expect(row(page, "kept")).toBeVisible();
  await page.route("**/fn/jobs/list*", (route) => route.fulfill({ status: 502, body: "Bad Gateway" }));
  await put("unseen");
  const notice = page.getByText("This could not be read anew");
  await expect(notice).toBeVisible();
  await expect(notice.locator("time")).toBeVisible();
  await expect(row(page, "kept")).toBeVisible();
  const table = page.locator(".loaded--old > *").filter({ has: row(page, "kept") });
  expect(Number(await table.evaluate((part) => getComputedStyle(part).opacity))).toBeLessThan(1);
  await berth.picture(page, "old");
  await page.unroute("**/fn/jobs/list*");
  await notice.getByRole("button", { name: "Try again" }).click();
  await expect(row(page, "unseen")).toBeVisible();
  await expect(notice).toHaveCount(0);
});

test("what only reads is asked once more when nothing answers", async () => {
  const page = await open("/jobs");
  let asked = 0;
  await page.route("**/fn/jobs/list*", (route) => (++asked === 1 ? route.abort("connectionreset") : route.continue()));
  await put("second-try");
  await expect(row(page, "second-try")).toBeVisible();
  expect(asked).toBeGreaterThan(1);
  await expect(page.getByText("This could not be read anew")).toHaveCount(0);
});

test("the tabs of a browser share one stream, and another takes it over", async () => {
  let streams = 0;
  context.on("request", (request) => {
    if (request.resourceType() === "eventsource") streams += 1;
  });
  const first = await open("/jobs");
  await put("for-one");
  await expect(row(first, "for-one")).toBeVisible();
  const second = await open("/jobs");
  await put("for-two");
  await expect(row(first, "for-two")).toBeVisible();
  await expect(row(second, "for-two")).toBeVisible();
  expect(streams).toBe(1);
  await first.close();
  await put("for-the-other");
  await expect(row(second, "for-the-other")).toBeVisible();
  expect(streams).toBe(2);
});

test("where streams are cut the page asks instead", async () => {
  await context.route("**/api/events*", (route) =>
    route.request().resourceType() === "eventsource" ? route.abort("connectionreset") : route.continue(),
  );
  const page = await open("/jobs");
  await put("asked-for");
  await expect(row(page, "asked-for")).toBeVisible();
  await expect(page.getByText("The server has not answered for")).toHaveCount(0);
});

test("a page that nobody looks at asks for nothing and catches up", async () => {
  const watched = await open("/jobs");
  const hidden = await open("/jobs");
  await berth.look(hidden, false);
  let asked = 0;
  hidden.on("request", () => (asked += 1));
  await put("meanwhile");
  await expect(row(watched, "meanwhile")).toBeVisible();
  expect(asked).toBe(0);
  await expect(row(hidden, "meanwhile")).toHaveCount(0);
  await berth.look(hidden, true);
  await expect(row(hidden, "meanwhile")).toBeVisible();
});

test("what is measured is not read while nobody looks, and at once when somebody does", async () => {
  await put("measured");
  await context.clock.install();
  for (const path of ["/nodes?by=load", "/nodes/pier-1", "/jobs/admin/measured/metrics"]) {
    const [watched, hidden] = [await open(path), await open(path)];
    await berth.look(hidden, false);
    const asked = { watched: 0, hidden: 0 };
    watched.on("request", (request) => {
      if (request.url().includes("/fn/")) asked.watched += 1;
    });
    hidden.on("request", () => (asked.hidden += 1));
    await context.clock.fastForward(60_000);
    await expect.poll(() => asked.watched, path).toBeGreaterThan(0);
    expect(asked.hidden, path).toBe(0);
    const reads = hidden.waitForRequest(/\/fn\//);
    await berth.look(hidden, true);
    await reads;
    await Promise.all([watched.close(), hidden.close()]);
  }
});

test("home is small however many nodes there are", async () => {
  const answer = await context.request.get("/");
  const html = await answer.text();
  expect(html.length).toBeLessThan(100_000);
  expect(html).not.toContain("pier-150");
  const page = await open("/");
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/fn/")) asked.push(new URL(request.url()).pathname);
  });
  await put("counted");
  await expect(row(page, "counted")).toBeVisible();
  expect(new Set(asked)).toEqual(new Set(["/fn/home"]));
});

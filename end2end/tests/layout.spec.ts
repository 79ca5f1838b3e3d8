// How the pages hold together: widths, lines, targets, cards, dead ends, paper and forced colours.
import { type APIRequestContext, type Browser, type Locator, type Page, expect, request as apart } from "@playwright/test";
import { test } from "../own";
import * as berth from "../pages";
import { PASSWORD } from "../server";

/** At which widths each language is looked at; the narrowest in both, for their words are of other lengths. */
const WIDTHS = { en: [320, 768, 2560], zh: [320, 1440] };
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
  "/nodes/pier-1",
  "/usage",
  "/admin",
  "/admin/groups",
  "/admin/nodes",
  "/admin/clusters",
  "/admin/storages",
  "/admin/audit",
  "/profile",
  "/no/such/page",
];

/** By how much the page is wider than the window, and what sticks out, once it has been drawn as wide as it is. */
function overflow(page: Page) {
  return page.evaluate(async () => {
    const drawn = () => new Promise((drawn) => requestAnimationFrame(drawn));
    await drawn();
    await drawn();
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

for (const [language, widths] of Object.entries(WIDTHS)) {
  test(`no page scrolls sideways or breaks, ${language}`, async ({ page, baseURL }) => {
    test.setTimeout(240_000);
    const broken: string[] = [];
    page.on("pageerror", (error) => broken.push(`${page.url()}: ${error}`));
    await page.context().addCookies([{ name: "berth_language", value: language, url: baseURL }]);
    for (const path of PAGES) {
      await page.setViewportSize({ width: widths[0], height: 800 });
      await berth.open(page, path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 });
        expect.soft(await overflow(page), `${path} at ${width}`).toEqual({ by: 0, what: [] });
      }
    }
    expect(broken).toEqual([]);
  });
}

test("addresses of tasks are one line, whatever the width", async ({ page }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/jobs/admin/laid-out/tasks");
  for (const width of new Set([...WIDTHS.en, ...WIDTHS.zh])) {
    await page.setViewportSize({ width, height: 800 });
    const addresses = page.locator(".table--tasks .copy__text");
    await expect(addresses).toHaveCount(3);
    for (const address of await addresses.all()) expect(await lines(address), `at ${width}`).toBe(1);
  }
});

test("a node's name is one line where there is room for it", async ({ page }) => {
  await berth.open(page, "/admin/nodes?q=pier-177");
  const name = page.getByRole("link", { name: "pier-177", exact: true });
  for (const width of [320, 600, 768, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await lines(name), `at ${width}`).toBe(1);
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

/** The buttons of a bar that nothing stands beside. */
function lonely(bar: Locator) {
  return bar.evaluate((bar) => {
    const parts = [...bar.querySelectorAll("button, a, input, label, [role=status]")];
    const boxes = parts.map((part) => ({ part, box: part.getBoundingClientRect() })).filter(({ box }) => box.width > 0 && box.height > 0);
    const beside = (one: DOMRect, other: DOMRect) => other.top < one.bottom && one.top < other.bottom;
    const alone = boxes.filter(({ box }) => boxes.filter((other) => beside(box, other.box)).length === 1);
    return alone.filter(({ part }) => part.matches(".button")).map(({ part }) => part.textContent);
  });
}

test("on a phone no button of a log stands alone in a line", async ({ page, baseURL }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  for (const language of ["en", "zh"]) {
    await page.context().addCookies([{ name: "berth_language", value: language, url: baseURL }]);
    for (const task of ["worker-0", "*"]) {
      await berth.open(page, `/jobs/admin/laid-out/logs?task=${task}`);
      const bars = [page.locator(".log__bar"), page.locator(".log__search")];
      for (const width of [320, 360, 412, 480]) {
        await page.setViewportSize({ width, height: 740 });
        for (const bar of bars) expect(await lonely(bar), `${task} at ${width}, ${language}`).toEqual([]);
      }
      await page.setViewportSize({ width: 360, height: 740 });
      // What the log says of itself when it is long, and of what was found in it.
      await page.locator(".log__status").evaluate((status) => (status.textContent = "1 000 001 lines · The log is complete."));
      expect(await lonely(bars[0]), `${task} with much to say, ${language}`).toEqual([]);
      await berth.picture(page, `log-phone-${language}-${task === "*" ? "all" : "one"}`);
    }
  }
});

test("on a phone the bar's sheet leads to everything else", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await berth.open(page, "/");
  const bar = page.getByRole("navigation", { name: "Main" });
  await bar.getByText("More", { exact: true }).click();
  for (const name of ["Files", "Virtual clusters", "Administration", "Profile"]) {
    const box = await bar.getByRole("link", { name }).boundingBox();
    expect(box?.height, name).toBeGreaterThanOrEqual(44);
  }
  await bar.getByRole("button", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await bar.getByRole("button", { name: "System" }).click();
  await expect(bar.getByRole("button", { name: "Sign out" })).toBeVisible();
  await berth.picture(page, "more");
  await expect(bar.locator("summary"), "the page is a place of the bar").not.toHaveAttribute("aria-current");
  await bar.getByRole("link", { name: "Administration" }).click();
  await expect(page).toHaveURL(/\/admin/);
  await expect(bar.locator("summary"), "the page is one of those that it leads to").toHaveAttribute("aria-current", "true");
  await expect(bar.getByRole("link", { name: "Profile" })).toBeHidden();
});

test("the way to submit stays in sight on small screens", async ({ page }) => {
  for (const size of [{ width: 320, height: 640 }, { width: 768, height: 800 }]) {
    await page.setViewportSize(size);
    await berth.open(page, "/submit");
    const button = page.getByRole("button", { name: /^Submit/ });
    await expect(button).toBeInViewport({ ratio: 1 });
    // Nothing lies over it.
    await button.click({ trial: true });
  }
});

test("a job, a node or a part of the administration that does not exist is one sentence and a way on", async ({ page }) => {
  for (const [path, words] of [
    ["/jobs/nobody/none", "nobody has no job named none"],
    ["/jobs/nobody/none/logs", "nobody has no job named none"],
    ["/jobs/nobody/none/events", "nobody has no job named none"],
    ["/nodes/nowhere", "There is no node named nowhere"],
    ["/admin/nothing", "There is nothing at this address"],
  ] as const) {
    const answer = await page.goto(path);
    expect(answer?.status(), path).toBe(404);
    await expect(page.locator("body[data-alive]")).toBeAttached();
    await expect(page.getByRole("heading", { level: 1, name: words })).toBeVisible();
    await expect(page).toHaveTitle(`${words} · Berth`);
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(page.getByRole("navigation", { name: "Parts of this job" })).toHaveCount(0);
    await expect(page.getByRole("main").getByRole("link")).toHaveCount(1);
  }
});

/** A browser of somebody who owns nothing. */
async function stranger(browser: Browser, admin: APIRequestContext, baseURL: string | undefined) {
  const headers = { Origin: baseURL ?? "" };
  const name = `stranger-${Date.now()}`;
  const made = await admin.post("/api/v2/users", { headers, data: { username: name, password: PASSWORD } });
  expect(made.status(), await made.text()).toBeLessThan(300);
  const client = await apart.newContext({ baseURL, storageState: { cookies: [], origins: [] } });
  const answer = await client.post("/auth/sign-in", { headers, data: { username: name, password: PASSWORD } });
  expect(answer.ok()).toBe(true);
  const storageState = await client.storageState();
  await client.dispose();
  return browser.newContext({ baseURL, storageState });
}

test("the log of somebody else is refused once", async ({ browser, request, baseURL }) => {
  const context = await stranger(browser, request, baseURL);
  const page = await context.newPage();
  await berth.open(page, "/jobs/admin/laid-out/logs");
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

test("Back finds a list where it was left", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 600 });
  await berth.open(page, "/nodes?view=table");
  const top = () => page.evaluate(() => window.scrollY);
  await page.evaluate(() => window.scrollTo({ top: 700, behavior: "instant" }));
  await expect.poll(top).toBe(700);
  const link = await page.locator("tbody tr").evaluateAll((rows) => {
    const inside = rows.find((row) => row.getBoundingClientRect().top > 200);
    return inside?.querySelector("a")?.getAttribute("href");
  });
  await page.locator(`tbody th a[href="${link}"]`).click();
  await expect(page).toHaveURL(new RegExp(`${link}$`));
  await expect(page.getByRole("heading", { level: 1, name: link?.split("/").at(-1), exact: true })).toBeVisible();
  await expect.poll(top).toBe(0);
  await page.goBack();
  await expect.poll(top).toBe(700);
});

test("the counters of the first page stand in full rows", async ({ page }) => {
  await berth.open(page, "/");
  for (const width of [320, 360, 768, 1280, 1440, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    const tops = await page.locator(".tiles > li").evaluateAll((tiles) => tiles.map((tile) => tile.getBoundingClientRect().top));
    expect(tops.length).toBeGreaterThanOrEqual(4);
    const rows = new Map<number, number>();
    for (const top of tops) rows.set(top, (rows.get(top) ?? 0) + 1);
    expect(new Set(rows.values()).size, `as many in each row at ${width}`).toBe(1);
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

test("a log on paper is its lines", async ({ page }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/jobs/admin/laid-out/logs");
  const log = page.getByRole("region", { name: "Log of worker-0" });
  await expect(log).toBeVisible();
  await page.emulateMedia({ media: "print" });
  for (const part of [".log__bar", ".log__search", ".log-choice"]) await expect(page.locator(part)).toBeHidden();
  await expect(log).toBeVisible();
});

test("who asks for more contrast has it in each theme", async ({ page, baseURL }) => {
  const colour = (part: Locator) => part.evaluate((part) => getComputedStyle(part).color);
  for (const [theme, system] of [["light", "dark"], ["dark", "light"], ["system", "light"], ["system", "dark"]] as const) {
    await page.context().addCookies([{ name: "berth_theme", value: theme, url: baseURL }]);
    await page.emulateMedia({ colorScheme: system, contrast: "no-preference" });
    await berth.open(page, "/");
    const [body, hint] = [page.locator("body"), page.locator(".card__head.hint").first()];
    await expect(hint).toBeVisible();
    const what = `${theme}, on a ${system} system`;
    expect(await colour(hint), what).not.toBe(await colour(body));
    await page.emulateMedia({ colorScheme: system, contrast: "more" });
    expect(await colour(hint), what).toBe(await colour(body));
    await berth.picture(page, `contrast-${theme}-${system}`);
  }
});

test("with forced colours what is chosen is framed, wherever a background says it else", async ({ page }) => {
  const framed = async (part: Locator) => {
    await expect(part).toBeVisible();
    expect(await part.evaluate((part) => getComputedStyle(part).outlineStyle)).toBe("solid");
  };
  await page.emulateMedia({ forcedColors: "active" });
  await berth.open(page, "/jobs/admin/laid-out/logs");
  const pattern = page.getByRole("button", { name: "Regular expression" });
  await pattern.click();
  // What has the focus is framed anyhow.
  await pattern.blur();
  await framed(pattern);
  await berth.open(page, "/jobs");
  await framed(page.locator(".sidebar [aria-current=page]"));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find a page, a job or a node" }).fill("laid");
  await framed(page.getByRole("option", { selected: true }));
});

test("with forced colours what only a colour says keeps it", async ({ page }) => {
  await berth.open(page, "/jobs/admin/laid-out");
  await berth.becomes(page, "RUNNING");
  await page.emulateMedia({ forcedColors: "active" });
  await berth.open(page, "/nodes?q=laid-out");
  const mine = page.locator(".map .gpu--ramp-4").first();
  await expect(mine).toBeVisible();
  expect(await mine.evaluate((cell) => getComputedStyle(cell).forcedColorAdjust)).toBe("none");
});

test("tables of the administration are searched, and the way to add is above them", async ({ page }) => {
  await berth.open(page, "/admin/nodes");
  const rows = page.locator("tbody tr");
  await expect(rows).toHaveCount(25);
  await expect(rows.nth(9)).toContainText("pier-10");
  const search = page.getByRole("searchbox", { name: "Search nodes" });
  await search.fill("sim://pier-177");
  await search.press("Enter");
  await expect(page).toHaveURL(/\?q=sim(%3A|:)(%2F|\/){2}pier-177$/);
  await expect(rows).toHaveCount(1);
  await expect(rows.first()).toContainText("pier-177");
  const add = page.getByRole("link", { name: "Add node" });
  await expect(add).toBeInViewport();
  await add.click();
  await expect(page.getByRole("heading", { name: "Add node" })).toBeInViewport();
});

import type { Page } from "@playwright/test";
import { looking } from "../everywhere";
import * as harbour from "../harbour";
import * as berth from "../pages";
import { expect, test } from "../seeded";

/** How many jobs are in a state. */
const count = (state: string) => `/api/v2/jobs?state=${state}&limit=1&withTotalCount=true`;

test("a seeded cluster has what there is to see, and nothing begins by itself", async ({ cluster, page }) => {
  const condition = async (name: string) => (await cluster.get(`/api/v2/nodes/${name}`)).condition;
  expect(await cluster.get("/api/v2/nodes")).toHaveLength(64);
  await expect.poll(() => condition("sim-titanx-16")).toBe("draining");
  await expect.poll(() => condition("sim-a100-01")).toBe("ready");
  await expect.poll(() => condition("sim-v100-14")).toBe("unreachable");
  expect((await cluster.get(count("RUNNING"))).totalCount).toBe(62);
  expect((await cluster.get(count("WAITING"))).totalCount).toBe(60);
  expect((await cluster.get(count("FAILED"))).totalCount).toBeGreaterThan(1_000);
  await berth.open(page, "/jobs?all=1");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator("[data-state=WAITING]").first()).toBeVisible();
});

test("the map, a node and the report say what GPUs do", async ({ page, cluster }) => {
  test.setTimeout(180_000);
  const measured = async () => {
    const nodes: { name: string; gpus: { now: unknown }[] }[] = await cluster.get("/api/v2/nodes");
    return nodes.find(({ gpus }) => gpus.some((gpu) => gpu.now))?.name ?? "";
  };
  await expect.poll(measured, { timeout: 60_000 }).not.toBe("");
  await berth.open(page, "/nodes?by=load");
  const busy = page.locator(".map .gpu--ramp-3, .map .gpu--ramp-4, .map .gpu--ramp-5").first();
  await expect(busy).toHaveAttribute("title", /load \d+\s%/);
  await berth.open(page, `/nodes/${await measured()}`);
  await expect(page.getByRole("heading", { name: "What the GPUs do now" })).toBeVisible();
  await expect(page.locator(".chart__line").first()).toBeAttached();
  for (const path of ["/nodes?view=table&sort=-tasks", "/jobs?all=1&q=state:running"]) {
    await berth.open(page, path);
    const spark = page.getByRole("img", { name: /^GPU load: \d+\s%$/ }).first();
    await expect(spark).toBeVisible();
    const [width, height] = await spark.locator("path").evaluate((path: SVGPathElement) => {
      const drawn = path.getBBox();
      return [drawn.width, drawn.height];
    });
    expect(width).toBeGreaterThan(0);
    expect(height).toBeGreaterThan(0);
  }
  const used = async () => (await cluster.get("/api/v2/usage")).length;
  await expect.poll(used, { timeout: 90_000 }).toBeGreaterThan(0);
  await berth.open(page, "/usage?by=type");
  await expect(page.getByText(/GPU hours held/)).toBeVisible();
  const unsaid = page.getByText("Left empty: the 31 days until today.");
  await expect(unsaid).toBeVisible();
  await berth.open(page, "/usage?from=2026-01-01&until=2026-01-31");
  await expect(page.getByLabel("Until", { exact: true })).toHaveValue("2026-01-31");
  await expect(unsaid).toBeHidden();
});

test("the map marks nodes that take nothing: by word, by mark, and by a filter with their number", async ({ page }) => {
  const lines = (cells: Element[]) => cells.map((cell) => getComputedStyle(cell).backgroundImage);
  const signs = (cells: Element[]) => cells.map((cell) => getComputedStyle(cell, "::after").content);
  await berth.open(page, "/nodes");
  // They are seen without scrolling, and the legend says why.
  await expect(page.locator(".map__name").first()).toHaveText("sim-v100-14");
  await expect(page.locator(".map__node", { hasText: "sim-titanx-16" })).toBeInViewport();
  await expect(page.locator(".legend")).toContainText("are drained come first");
  const kinds = page.getByRole("navigation", { name: "Show" });
  for (const [words, name, marks, looks] of [
    ["Draining 1", "sim-titanx-16", lines, /linear-gradient/],
    ["Unreachable 1", "sim-v100-14", signs, /×/],
  ] as const) {
    await kinds.getByRole("link", { name: words, exact: true }).click();
    await expect(page.locator(".map__name")).toHaveText([name]);
    const node = page.locator(".map__node");
    await expect(node).toContainText(words.split(" ")[0]);
    const seen = await node.locator(".gpu").evaluateAll(marks);
    expect(seen.length).toBeGreaterThan(3);
    for (const mark of seen) expect(mark).toMatch(looks);
  }
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

test("a list of jobs is gone along, chosen from and opened by keys alone", async ({ page }) => {
  await berth.open(page, "/jobs?all=1&q=state:running");
  const names = page.locator("tbody .job-name");
  await expect(names.nth(2)).toBeVisible();
  for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
  await expect(names.nth(1)).toBeFocused();
  const pick = page.locator("tbody tr").nth(1).getByRole("checkbox");
  await page.keyboard.press("x");
  await expect(pick).toBeChecked();
  await page.keyboard.press("x");
  await expect(pick).not.toBeChecked();
  await expect(names.nth(1)).toBeFocused();
  const job = (await names.nth(1).getAttribute("href"))!;
  for (const [key, address] of [
    ["Enter", job],
    ["l", `${job}/logs`],
    ["t", `${job}/terminal`],
    ["c", job.replace(/^\/jobs\/([^/]+)\/(.+)$/, "/submit?clone=$1~$2")],
  ]) {
    await names.nth(1).focus();
    await page.keyboard.press(key);
    await expect.poll(() => page.url()).toContain(address);
    await page.goBack();
    await expect(names.nth(1)).toBeVisible();
  }
  // Who types is not taken at his word.
  const field = page.getByRole("combobox", { name: "Filter jobs" });
  await field.fill("");
  await field.pressSequentially("jkx");
  await expect(field).toHaveValue("jkx");
  await expect(field).toBeFocused();
});

test("a name is copied with a clipboard, and without one, as pages have none over plain HTTP", async ({ page, cluster }) => {
  const [{ username, name }] = await cluster.get("/api/v2/jobs?state=RUNNING&limit=1");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const secure of [true, false]) {
    await page.addInitScript((secure) => Object.defineProperty(window, "isSecureContext", { value: secure, configurable: true }), secure);
    await berth.open(page, `/jobs/${username}/${name}`);
    await page.evaluate(() => navigator.clipboard.writeText("something before"));
    await page.locator(".job-head__id").getByRole("button", { name: "Copy" }).click();
    const copied = page.locator(".job-head__id").getByRole("button", { name: "Copied" });
    await expect(copied).toBeFocused();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${username}~${name}`);
    await expect(page.locator(".job-head__id textarea")).toHaveCount(0);
  }
});

test("each table of the administration is searched, and the way to add is above it", async ({ page }) => {
  for (const section of ["users", "groups", "nodes", "clusters", "storages"]) {
    await berth.open(page, `/admin/${section}`);
    const bar = page.locator(".table-bar").first();
    await expect(bar.getByRole("searchbox"), section).toBeInViewport();
    await expect(bar.getByRole("link"), section).toBeInViewport();
  }
  for (const [section, word] of [["users", "demo-ada"], ["clusters", "detection"]]) {
    await berth.open(page, `/admin/${section}`);
    const rows = page.getByRole("table").first().locator("tbody tr").filter({ visible: true });
    await expect(rows.nth(4)).toBeVisible();
    await page.getByRole("searchbox", { name: "Search this table" }).fill(word);
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText(word);
  }
});

/** Words that stand on more than one line: broken where nobody would. */
function brokenWords(page: Page, selector: string) {
  return page.locator(selector).evaluateAll((elements) => {
    const broken: string[] = [];
    for (const element of elements) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const { 0: word, index } of (node.textContent ?? "").matchAll(/[^ \n]+/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
          if (new Set(tops).size > 1) broken.push(word);
        }
      }
    }
    return broken;
  });
}

test("neither words above columns nor numbers break where it is narrow", async ({ page, cluster }) => {
  const [{ username, name }] = await cluster.get("/api/v2/jobs?state=WAITING&limit=1");
  await berth.open(page, `/submit?clone=${username}~${name}`);
  const table = page.locator(".verdict table");
  await expect(table).toBeVisible();
  for (const width of [1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await brokenWords(page, ".verdict th"), `at ${width}`).toEqual([]);
  }
  await page.setViewportSize({ width: 360, height: 800 });
  await berth.open(page, "/nodes?view=table");
  await expect(page.locator(".meter__text").first()).toBeVisible();
  expect(await brokenWords(page, ".meter__text")).toEqual([]);
});

test("amounts of a virtual cluster stay in their column however wide the window is", async ({ page }) => {
  for (const width of [1024, 1440, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    await berth.open(page, "/clusters");
    await expect(page.locator(".meter__text").first()).toBeVisible();
    const beyond = await page.locator("td:has(.meter)").evaluateAll((cells) =>
      cells.filter((cell) => {
        const text = cell.querySelector(".meter__text")!.getBoundingClientRect();
        return text.right > cell.getBoundingClientRect().right + 1;
      }).map((cell) => cell.textContent),
    );
    expect(beyond, `at ${width}`).toEqual([]);
  }
});

test("on a phone the amounts of a virtual cluster are cards, whose words have room", async ({ browser, cluster }) => {
  for (const language of ["zh", "en"] as const) {
    const context = await looking(browser, cluster, { width: 360, language, theme: "light" });
    const page = await context.newPage();
    await berth.open(page, "/clusters");
    const row = page.locator("tr[data-gpu-type]").filter({ has: page.locator(".free-now__more") }).first();
    await expect(row).toBeVisible();
    const boxes = await row.getByRole("cell").evaluateAll((cells) =>
      cells.map((cell) => ({ top: cell.getBoundingClientRect().top, label: getComputedStyle(cell, "::before").content })),
    );
    expect(boxes).toHaveLength(3);
    expect(new Set(boxes.map(({ top }) => top)).size, "below each other").toBe(3);
    for (const { label } of boxes) expect(label).toMatch(/^"\S/);
    expect((await row.locator(".free-now").boundingBox())!.width).toBeGreaterThan(120);
    expect(await brokenWords(page, ".meter__text")).toEqual([]);
    if (language === "en") expect(await brokenWords(page, ".free-now")).toEqual([]);
    await berth.picture(page, `clusters-phone-${language}`);
    // Where there is room for columns they stand beside each other.
    await page.setViewportSize({ width: 1280, height: 900 });
    const tops = await row.getByRole("cell").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(1);
    await context.close();
  }
});

test("on a phone each word of a node stands beside the name of its column", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await berth.open(page, "/nodes?view=table");
  const row = page.locator("tbody tr").first();
  await expect(row).toBeVisible();
  const left = await row.getByRole("cell").evaluateAll((cells) => {
    const words = cells.flatMap((cell) => {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      const found: { text: string; left: number }[] = [];
      while (walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        const text = walker.currentNode.textContent!.trim();
        if (text !== "") found.push({ text, left: range.getBoundingClientRect().left - cell.getBoundingClientRect().left });
      }
      return found;
    });
    return words.filter(({ left }) => left < 88);
  });
  expect(left).toEqual([]);
});

test("what each card says is free is what a dry run finds", async ({ page, cluster }) => {
  /** How a job would start; `null`: it would wait, or never could. */
  const start = async (within: string, type: string, tasks: number, gpus: number) => {
    const text = JSON.stringify(harbour.job("asks", { cluster: within, type, tasks, gpus }));
    const headers = { Origin: cluster.url, Accept: "application/json" };
    const answer = await page.request.post("/fn/jobs/check", { headers, form: { text } });
    expect(answer.ok(), await answer.text()).toBe(true);
    const { dry_run } = await answer.json();
    expect(dry_run, `a dry run of ${text}`).toBeTruthy();
    return (dry_run.Fits as { borrowed: boolean } | undefined) ?? null;
  };
  await berth.open(page, "/clusters");
  await expect(page.locator(".free-now").first()).toBeVisible();
  const cards = await page.locator("tr[data-gpu-type]:has(.free-now)").evaluateAll((rows) =>
    rows.map((row) => ({
      within: row.closest("section")?.querySelector("h2, h3")?.textContent ?? "",
      type: row.getAttribute("data-gpu-type") ?? "",
      words: row.querySelector(".free-now")?.textContent ?? "",
    })),
  );
  expect(cards.length).toBeGreaterThan(8);
  let some = 0;
  for (const { within, type, words } of cards) {
    const free = Number(/^(\d+) free now/.exec(words)?.[1] ?? NaN);
    const largest = Number(/largest on one node (\d+)/.exec(words)?.[1] ?? 0);
    const what = `${within}, ${type}: ${words}`;
    expect(free, what).toBeGreaterThanOrEqual(0);
    if (free > 0) {
      some += 1;
      expect(largest, what).toBeGreaterThan(0);
      expect(await start(within, type, free, 1), what).not.toBeNull();
      expect(await start(within, type, 1, largest), what).not.toBeNull();
    }
    // Of what ran here before it is known how long a job like it takes: one more may go between others, lent.
    for (const [tasks, gpus] of [[free + 1, 1], [1, largest + 1]]) {
      const more = await start(within, type, tasks, gpus);
      expect(more === null || more.borrowed, `${what}, asked for ${tasks} × ${gpus}`).toBe(true);
    }
  }
  expect(some, "something is free").toBeGreaterThan(0);
});

test("home counts the jobs of mine that failed in a week, until I dismiss them", async ({ browser, cluster }) => {
  const storageState = await cluster.signedInAs("demo-ada");
  const context = await browser.newContext({ baseURL: cluster.url, storageState });
  const page = await context.newPage();
  const filter = "q=state:failed+ended:7d";
  const lately = await cluster.get(`/api/v2/jobs?${filter}&username=demo-ada&limit=1&withTotalCount=true`);
  const ever = await cluster.get("/api/v2/jobs?state=FAILED&username=demo-ada&limit=1&withTotalCount=true");
  expect(lately.totalCount).toBeGreaterThan(1);
  expect(lately.totalCount).toBeLessThan(ever.totalCount);

  await berth.open(page, "/");
  const attention = page.getByRole("region", { name: "Needs attention" });
  const link = attention.getByRole("link", { name: /failed in the last 7 days/ });
  await expect(link).toHaveText(`${lately.totalCount} of your jobs have failed in the last 7 days`);
  await expect(link).toHaveAttribute("href", `/jobs?${filter}&sort=-completed`);
  await berth.picture(page, "attention");
  await attention.getByRole("button", { name: "Dismiss" }).click();
  await expect(link).toHaveCount(0);
  await berth.open(page, "/");
  await expect(attention).toBeVisible();
  await expect(link).toHaveCount(0);
  await context.close();
});

test("what a running job uses is drawn, and told in numbers, also without JavaScript", async ({ browser, cluster, page }) => {
  const [{ username, name }] = await cluster.get("/api/v2/jobs?state=RUNNING&limit=1");
  const measured = async () => {
    const { tasks } = await cluster.get(`/api/v2/jobs/${username}~${name}/metrics`);
    return tasks[0].series.map(({ metric }: { metric: string }) => metric);
  };
  await expect.poll(measured, { timeout: 30_000 }).toContain("memory");
  const address = `/jobs/${username}/${name}/metrics`;
  await berth.open(page, address);
  const chart = page.locator(".chart").filter({ hasText: "Memory" }).first();
  await expect(chart.locator("path")).toHaveAttribute("d", /^M/);
  expect((await chart.locator("svg").boundingBox())!.width).toBeGreaterThan(200);
  await expect(page.locator(".charts__phases").first()).toContainText("Running");

  // Who points at a moment sees it in all charts, with the values that are drawn there.
  const cpu = page.locator(".chart").filter({ hasText: "CPU cores in use" }).first();
  const rules = page.locator(".charts").first().locator(".chart__moment");
  const moment = page.locator(".charts__moment").first();
  await expect(rules).toHaveCount(0);
  await cpu.scrollIntoViewIfNeeded();
  await expect(async () => {
    const plot = (await cpu.locator("svg").boundingBox())!;
    const [, at, drawn] = /^M([\d.]+) ([\d.]+)/.exec((await cpu.locator(".chart__line").getAttribute("d"))!)!;
    await page.mouse.move(plot.x + (Number(at) / 600) * plot.width, plot.y + plot.height / 2);
    const top = Number(await cpu.locator(".chart__top").textContent());
    const said = Number(await cpu.locator("b").textContent());
    expect(top).toBeGreaterThan(0);
    expect(Math.abs(said - (1 - Number(drawn) / 100) * top)).toBeLessThan(top / 500 + 0.01);
  }).toPass();
  expect(await rules.count()).toBeGreaterThan(1);
  await expect(moment).toHaveText(/\d\d:\d\d/);
  await berth.picture(page, "chart-moment");
  await page.mouse.move(1, 1);
  await expect(rules).toHaveCount(0);
  await expect(moment).toHaveText("");

  const storageState = cluster.signedIn;
  const context = await browser.newContext({ baseURL: cluster.url, storageState, javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(address);
  await plain.getByText("As a table").first().click();
  await expect(plain.getByRole("rowheader", { name: "Memory", exact: true }).first()).toBeVisible();
  await context.close();
});

test("a job that has ended says what it came to, also without JavaScript", async ({ browser, cluster, page }) => {
  // What was measured is kept of those that ended last.
  const ended: { username: string; name: string }[] = await cluster.get("/api/v2/jobs?state=SUCCEEDED&limit=100");
  let [address, used] = ["", { held_gpu_seconds: 0, energy_wh: 0, roles: [] as { role: string; gpu_load: unknown }[] }];
  for (const { username, name } of ended) {
    used = await cluster.get(`/api/v2/jobs/${username}~${name}/use`);
    address = `/jobs/${username}/${name}`;
    if (used.roles.some((role) => role.gpu_load)) break;
  }
  expect(used.energy_wh).toBeGreaterThan(0);
  const says = async (on: Page) => {
    const card = on.locator("section[aria-labelledby=used]");
    const fact = (of: string) => card.locator("dt", { hasText: of }).locator("xpath=following-sibling::dd[1]");
    await expect(fact("GPU hours held")).toBeVisible();
    const held = Number.parseFloat(await fact("GPU hours held").innerText());
    expect(Math.abs(held - used.held_gpu_seconds / 3_600)).toBeLessThan(0.006);
    await expect(fact("Energy of its GPUs")).toHaveText(/kWh$/);
    for (const { role } of used.roles) {
      const row = card.getByRole("row").filter({ has: on.getByRole("rowheader", { name: role, exact: true }) });
      await expect(row).toHaveText(/at most .* of /);
      expect((await row.boundingBox())!.height).toBeGreaterThan(16);
    }
  };
  await berth.open(page, address);
  await says(page);
  const context = await browser.newContext({ baseURL: cluster.url, storageState: cluster.signedIn, javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(address);
  await says(plain);
  await context.close();
});

test("jobs stand beside each other with what differs, none is lost, also without JavaScript", async ({ browser, cluster, page }) => {
  interface Found { username: string; name: string }
  const keys = (found: Found[]) => found.map(({ username, name }) => `${username}~${name}`);
  const ended = keys(await cluster.get("/api/v2/jobs?state=SUCCEEDED&limit=6"));
  const [failed] = keys(await cluster.get("/api/v2/jobs?state=FAILED&limit=1"));
  const chosen = [ended[0], ended[1], failed];
  const told = await cluster.get(`/api/v2/compare?jobs=${chosen.join(",")}&all=1`);
  const differing = told.settings.filter((setting: { differs: boolean }) => setting.differs);
  const address = (jobs: string[], all = "") => `/compare?${jobs.map((job) => `job=${job}`).join("&")}${all}`;
  const says = async (on: Page) => {
    const runs = on.locator("section[aria-labelledby=runs] table");
    await expect(runs.getByRole("columnheader")).toHaveText(["What", ...chosen]);
    const state = runs.getByRole("row").filter({ has: on.getByRole("rowheader", { name: /^State/ }) });
    await expect(state.getByRole("cell")).toContainText(["Succeeded", "Succeeded", "Failed"]);
    // The sign is seen and heard: it is no colour alone.
    await expect(state.getByRole("rowheader")).toContainText("differs");
    for (const [at, { run }] of told.jobs.entries()) {
      const hours = runs.getByRole("row").filter({ hasText: "GPU hours held" }).getByRole("cell").nth(at);
      const held = Number.parseFloat(await hours.innerText());
      expect(Math.abs(held - run.used.held_gpu_seconds / 3_600)).toBeLessThan(0.006);
    }
    const files = on.locator("section[aria-labelledby=files]");
    await expect(files.locator("tbody tr")).toHaveCount(differing.length);
    for (const { path } of differing) await expect(files.locator("code", { hasText: path }).first()).toBeVisible();
  };
  await berth.open(page, address(chosen));
  await says(page);
  await berth.picture(page, "compare");
  await page.getByRole("link", { name: /^Show all settings/ }).click();
  await expect(page.locator("section[aria-labelledby=files] tbody tr")).toHaveCount(told.settings.length);
  await expect(page).toHaveURL(/all=1/);

  const context = await browser.newContext({ baseURL: cluster.url, storageState: cluster.signedIn, javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(address(chosen));
  await says(plain);
  await plain.goto(address([ended[0]]));
  await plain.getByRole("textbox", { name: "Add a job" }).fill(failed);
  await plain.getByRole("button", { name: "Add a job" }).click();
  await expect(plain.getByRole("columnheader", { name: failed }).first()).toBeVisible();
  await context.close();

  // One that is not there is told as such, and one too many is named: taking another away shows it.
  await berth.open(page, address([ended[0], "nobody~none", ...ended.slice(1), failed]));
  await expect(page.getByRole("list", { name: "Jobs that are compared" })).toContainText("nobody has no job none");
  await expect(page.locator(".notice")).toContainText("At most 6 jobs can be compared.");
  await expect(page.locator(".notice")).toContainText(failed);
  await page.getByRole("link", { name: "Take nobody~none out of the comparison" }).click();
  await page.getByRole("link", { name: `Take ${ended[1]} out of the comparison` }).click();
  await expect(page.locator(".notice")).toHaveCount(0);
  await expect(page.getByRole("columnheader", { name: failed }).first()).toBeVisible();

  // On a phone there is a card a row, and nothing beside the page.
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  const cell = page.locator("section[aria-labelledby=runs] tbody tr").first().getByRole("cell").first();
  expect((await cell.boundingBox())!.width).toBeGreaterThan(250);
});

test("ticked jobs lead to their comparison", async ({ page }) => {
  await berth.open(page, "/jobs?all=1&q=state:succeeded");
  const boxes = page.locator("tbody input[type=checkbox]");
  const name = async (at: number) => (await boxes.nth(at).getAttribute("aria-label"))!.replace(/^Select /, "");
  const chosen = [await name(0), await name(1)];
  await boxes.nth(0).check();
  await expect(page.getByRole("link", { name: /^Compare/ })).toHaveCount(0);
  await boxes.nth(1).check();
  await page.getByRole("link", { name: "Compare 2 jobs" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Compare jobs" })).toBeVisible();
  for (const job of chosen) await expect(page.getByRole("columnheader", { name: job }).first()).toBeVisible();
  await expect(page.locator("section[aria-labelledby=files]")).toBeVisible();
});

test("a job that runs is given more time, and its page says before by when it would end", async ({ page, request, baseURL }) => {
  const put = await request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: {
      jobName: "more-time",
      image: "berth/base:latest",
      taskRoles: [{ name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command: "sleep 600" }],
      extras: { berth: { timeLimit: "2h" } },
    },
  });
  expect(put.status(), await put.text()).toBeLessThan(300);
  await berth.open(page, "/jobs/admin/more-time");
  await berth.becomes(page, "RUNNING");
  const limit = page.locator("dt", { hasText: "Time limit" }).locator("xpath=following-sibling::dd[1]");
  await expect(limit).toContainText(/^2h, 1h 59m .*left/);
  await expect(limit).toContainText("It ends by");
  const more = limit.getByRole("button", { name: /^6h: by / });
  const at = (text: string) => Number(text.match(/(\d\d):\d\d:\d\d/)![1]);
  const now = at(await limit.locator("p").first().innerText());
  const then = at(await more.innerText());
  expect((then - now + 24) % 24).toBe(4);
  await berth.picture(page, "more-time");
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 360, height: size.height });
  const pieces = await limit.locator(".moment").evaluateAll((all) => all.map((one) => one.getClientRects().length));
  expect(pieces, "a moment is one line").toEqual([1, 1, 1, 1]);
  await page.setViewportSize(size);
  await more.click();
  await expect(limit).toContainText(/^6h, 5h 5\dm .*left/);
  await berth.open(page, "/jobs?q=name:more-time");
  await expect(page.getByRole("row").filter({ hasText: "more-time" })).toContainText(/5h 5\dm left/);
  await berth.open(page, "/jobs/admin/more-time");
  await page.getByRole("link", { name: "Events", exact: true }).click();
  await expect(page.getByText("admin changed its time limit from 2h to 6h")).toBeVisible();
  await berth.stop(request, baseURL, "more-time");
});

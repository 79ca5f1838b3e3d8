import { type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";
import { PASSWORD } from "../server";

const LINES = 60_000;
const SAYS = `seq -f 'line %.0f says something' 1 ${LINES}; echo the last word; sleep 600`;

// Nothing of theirs stays on the node that other specs look at.
test.afterAll(async ({ playwright, baseURL }) => {
  const request = await playwright.request.newContext({ baseURL, storageState: "test-results/signed-in.json" });
  for (const name of ["long-log", "ticks", "ticks-on", "two-logs", "loud-logs", "plain-log"]) await berth.stop(request, baseURL, name);
  await request.dispose();
});

test("any place of a long log is read, found and linked to", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "long-log", SAYS);
  await berth.open(page, "/jobs/admin/long-log/logs");
  const log = page.getByRole("region", { name: "Log of main-0" });
  const line = (number: number) => log.locator(`.log__line[data-line="${number}"]`);
  const status = page.locator(".log__status");

  // Opened at the end, with true numbers, and only what is seen is in the page.
  await expect(line(LINES + 1)).toContainText("the last word", { timeout: 60_000 });
  await expect(line(LINES)).toContainText(`line ${LINES} says something`);
  expect(await log.locator(".log__line").count()).toBeLessThan(200);
  const box = (await log.boundingBox())!;
  expect(box.height).toBeGreaterThanOrEqual(320);
  await expect(status).toContainText("Following");
  await expect(status).not.toContainText("complete");

  // Any other place by scrolling; who scrolls up is left there.
  await log.evaluate((port) => (port.scrollTop = port.scrollHeight / 2));
  await expect(line(LINES / 2 + 5)).toContainText(`line ${LINES / 2 + 5} says something`);
  await expect(status).toContainText("Paused");
  await log.press("Home");
  await expect(line(1)).toContainText("line 1 says something");
  const first = (await line(1).boundingBox())!;
  expect(Math.abs(first.y - box.y)).toBeLessThan(4);
  expect(Math.abs(first.height - 19)).toBeLessThan(1);

  // Searched by the server, by text and by pattern.
  const field = page.getByRole("searchbox", { name: "Search the log" });
  const found = page.locator(".log__found");
  await field.fill("LINE 33333 says");
  await field.press("Enter");
  await expect(found).toContainText("1 of 1 line");
  await expect(line(33_333)).toBeInViewport();
  await expect(line(33_333)).toHaveClass(/log__line--current/);
  await field.fill("line 1234(0|5) ");
  await page.getByRole("button", { name: "Regular expression" }).click();
  await expect(found).toContainText("of 2 lines");
  await page.getByRole("button", { name: "Next match" }).click();
  await expect(line(12_340).or(line(12_345)).locator("visible=true").first()).toBeInViewport();
  await field.fill("(");
  await field.press("Enter");
  await expect(found).toContainText("unclosed group");
  await field.fill("nowhere at all");
  await field.press("Enter");
  await expect(found).toContainText("Nothing found");

  // A line has an address that lasts.
  await log.focus();
  await log.press("End");
  await line(LINES).locator(".log__number").click();
  await expect(page).toHaveURL(new RegExp(`task=main-0&attempt=0&line=${LINES}$`));
  await page.goto("/jobs/admin/long-log/logs?task=main-0&attempt=0&line=54321");
  await expect(line(54_321)).toBeInViewport();
  await expect(line(54_321)).toHaveClass(/log__line--selected/);
  await berth.picture(page, "log-long");

  // When the job has ended, the same log is there at once, and it is said to be whole.
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop this job" }).click();
  await berth.becomes(page, "STOPPED");
  // What was written in the last second, which is all of it, is read once more: as long as at first.
  await expect(status).toContainText("The log is complete.", { timeout: 60_000 });
  await page.goto("/jobs/admin/long-log/logs");
  await expect(line(LINES + 1)).toContainText("the last word");
  await expect(status).toContainText("complete");
});

test("a log is paused and followed by a button and by keys", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "ticks", "i=0; while true; do i=$((i+1)); echo tick $i; sleep 0.1; done");
  await berth.open(page, "/jobs/admin/ticks/logs");
  const log = page.getByRole("region", { name: "Log of main-0" });
  const top = () => log.evaluate((port) => port.scrollTop);
  await expect(log).toContainText("tick 40");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  const paused = await top();
  const status = page.locator(".log__status");
  await expect(status).toContainText("Paused");
  const before = await status.textContent();
  await expect(status).not.toHaveText(before!);
  expect(await top()).toBe(paused);
  await log.focus();
  await page.keyboard.press("f");
  await expect(status).toContainText("Following");
  await expect.poll(top).toBeGreaterThan(paused);
});

test("a log is asked for less than once a second, and not while nobody looks", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "ticks-on", "i=0; while true; do i=$((i+1)); echo tick $i; sleep 0.1; done");
  for (const [view, name] of [["main-0", "Log of main-0"], ["*", "Log of all tasks"]]) {
    const path = `/jobs/admin/ticks-on/logs?task=${view}`;
    await berth.open(page, path);
    const last = async (page: Page) => {
      const lines = await page.getByRole("region", { name }).locator(".log__line").allTextContents();
      return Math.max(0, ...lines.map((line) => Number(line.match(/tick (\d+)/)?.[1] ?? 0)));
    };
    await expect.poll(() => last(page)).toBeGreaterThan(0);
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes("after=")) asked += 1;
    });
    const [begun, first] = [Date.now(), await last(page)];
    await expect.poll(() => last(page), { timeout: 60_000 }).toBeGreaterThan(first + 80);
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThanOrEqual((Date.now() - begun) / 1000);

    await berth.look(page, false);
    asked = 0;
    const other = await page.context().newPage();
    await berth.open(other, path);
    await expect.poll(() => last(other)).toBeGreaterThan(0);
    const then = await last(other);
    await expect.poll(() => last(other)).toBeGreaterThan(then + 20);
    expect(asked).toBe(0);
    await other.close();
    await berth.look(page, true);
    await expect.poll(() => last(page)).toBeGreaterThan(then + 20);
  }
});

test("tasks and attempts are chosen without a second click", async ({ page, request, baseURL }) => {
  const answer = await request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: {
      jobName: "two-logs",
      image: "berth/base:latest",
      taskRoles: [
        { name: "main", taskNumber: 2, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command: "echo I am $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX; sleep 600" },
      ],
    },
  });
  expect(answer.status()).toBeLessThan(300);
  await berth.open(page, "/jobs/admin/two-logs/logs");
  const first = page.getByRole("region", { name: "Log of main-0" });
  await expect(first).toContainText("I am 0");
  // Of a log that is shorter than its window the end is in sight, and it begins at the top.
  await expect(first.locator(".log__window--end")).toBeAttached();
  const [port, line] = await Promise.all([first, first.locator(".log__line").first()].map((box) => box.boundingBox()));
  expect(Math.abs(line!.y - port!.y)).toBeLessThan(4);
  await page.getByRole("combobox", { name: "Task" }).selectOption("main-1");
  await expect(page.getByRole("region", { name: "Log of main-1" })).toContainText("I am 1");
  await expect(page).toHaveURL(/task=main-1/);
  await page.goBack();
  await expect(first).toContainText("I am 0");
  await page.getByRole("combobox", { name: "Task" }).selectOption("All tasks");
  const all = page.getByRole("region", { name: "Log of all tasks" });
  await expect(all.locator("[data-task=main-0]")).toContainText("I am 0");
  await expect(all.locator("[data-task=main-1]")).toContainText("I am 1");
  await expect(all.locator("time").first()).toBeVisible();
  await berth.picture(page, "log-of-all");
});

test("who follows all tasks of a loud job has its last lines, and goes to any moment", async ({ page, request, baseURL }) => {
  const command = "echo the first word; sleep 15; seq -f 'line %.0f says something' 1 20000; echo the last word";
  const role = { name: "main", taskNumber: 2, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command };
  const answer = await request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: { jobName: "loud-logs", image: "berth/base:latest", taskRoles: [role] },
  });
  expect(answer.status()).toBeLessThan(300);
  await berth.open(page, "/jobs/admin/loud-logs");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/jobs/admin/loud-logs/logs?task=*");
  const all = page.getByRole("region", { name: "Log of all tasks" });
  const lines = all.locator(".log__line");
  const status = page.locator(".log__status");
  await expect(all).toContainText("the first word");
  await expect(status).toContainText("Following");

  // Many thousand lines between two questions, and then the end: it is not said to be whole before it is.
  await expect(status).toContainText("The log is complete.", { timeout: 60_000 });
  await expect(lines.last()).toContainText("the last word");
  await expect(lines.last()).toBeInViewport();
  expect(await lines.count()).toBeLessThanOrEqual(1_000);

  // What was passed over is there, by its moment and from there on.
  const start = await request.get("/api/v2/jobs/admin~loud-logs/logs/together?time=0&count=1");
  const { at } = (await start.json()).lines[0].line;
  const moment = await page.evaluate((at) => {
    const ahead = new Date(at).getTimezoneOffset() * -60_000;
    return new Date(at + ahead).toISOString().slice(0, 19);
  }, at);
  await page.getByLabel("Go to a moment").fill(moment);
  await expect(lines.first()).toContainText("the first word");
  await expect(lines.first()).toBeInViewport();
  await expect(lines).toHaveCount(200);
  await expect(status).toContainText("Paused");
  await berth.picture(page, "log-of-all-moment");
  await page.getByRole("button", { name: "Later lines" }).click();
  await expect(lines).toHaveCount(400);
  await expect(lines.first()).toBeInViewport();
  await all.focus();
  await page.keyboard.press("G");
  await expect(lines.last()).toContainText("the last word");
  await expect(status).toContainText("The log is complete.");
});

test("without JavaScript links lead to other places of a log", async ({ browser, request, baseURL }) => {
  await berth.put(request, baseURL, "plain-log", "seq -f 'number %.0f' 1 2000; sleep 600");
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL, storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await page.goto("/");
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  const log = page.getByRole("region", { name: "Log of main-0" });
  await expect(async () => {
    await page.goto("/jobs/admin/plain-log/logs");
    await expect(log).toContainText("number 2000", { timeout: 500 });
  }).toPass({ timeout: 30_000 });
  await page.getByRole("link", { name: "To the start" }).click();
  await expect(log).toContainText("number 1");
  await page.getByRole("link", { name: "Later lines" }).click();
  await expect(log).toContainText("number 130");
  await expect(log).not.toContainText("number 2000");
  await context.close();
});

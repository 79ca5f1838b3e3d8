// Single keys: the list of them, those that stop a job and step, and that they can be turned off.
import { looking } from "../everywhere";
import * as berth from "../pages";
import { expect, test } from "../seeded";

test("all keys are listed in both languages, and Escape closes the list", async ({ browser, cluster }) => {
  for (const [language, name, next] of [
    ["en", "Keyboard shortcuts", "Next job"],
    ["zh", "键盘快捷键", "下一个作业"],
  ] as const) {
    const context = await looking(browser, cluster, { width: 1280, language, theme: "light" });
    const page = await context.newPage();
    await berth.open(page, "/jobs?all=1");
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name });
    await expect(list).toBeVisible();
    const line = list.locator(".key-list__line").filter({ hasText: next });
    await expect(line.getByRole("term")).toHaveText("j");
    await expect(line.getByRole("definition")).toHaveText(next);
    await berth.picture(page, `keys-${language}`);
    // What lies below does not move meanwhile.
    await page.keyboard.press("j");
    await page.keyboard.press("Escape");
    await expect(list).toBeHidden();
    await expect(page.locator("tbody .job-name:focus")).toHaveCount(0);
    await context.close();
  }
});

test("a job is stopped by a key after a question, in a list and on its page", async ({ page }) => {
  await berth.open(page, "/jobs?all=1&q=state:running");
  const names = page.locator("tbody .job-name");
  await expect(names.nth(1)).toBeVisible();
  await page.keyboard.press("j");
  await expect(names.first()).toBeFocused();
  await page.keyboard.press("s");
  const question = page.getByRole("dialog", { name: /^Stop 1 job$/ });
  await expect(question).toBeVisible();
  const address = (await names.first().getAttribute("href"))!;
  await expect(question).toContainText(address.replace("/jobs/", "").replace("/", "~"));
  await page.keyboard.press("Escape");
  await expect(question).toBeHidden();
  await expect(names.first()).toBeFocused();

  await berth.open(page, address);
  await expect(page.getByRole("button", { name: "Stop", exact: true })).toBeVisible();
  await page.keyboard.press("s");
  const asked = page.getByRole("dialog", { name: /^Stop / });
  await expect(asked).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(asked).toBeHidden();

  // What has ended is neither chosen nor asked about.
  await berth.open(page, "/jobs?all=1&q=state:failed");
  await expect(names.first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  await page.keyboard.press("x");
  await expect(page.locator("tbody tr").first().getByRole("checkbox")).toBeChecked();
  await expect(page.locator("dialog[open]")).toHaveCount(0);
});

test("brackets turn the pages of a list and choose the task of a log", async ({ page, cluster }) => {
  await berth.open(page, "/jobs?all=1&q=state:failed");
  await expect(page.getByRole("link", { name: "Page 2", exact: true })).toBeVisible();
  await page.keyboard.press("]");
  await expect(page).toHaveURL(/page=2/);
  await expect(page.getByRole("link", { name: "Page 2", exact: true })).toHaveAttribute("aria-current", "page");
  await page.keyboard.press("[");
  await expect(page).not.toHaveURL(/page=2/);

  const jobs: { username: string; name: string; totalTaskNumber: number }[] = await cluster.get(
    "/api/v2/jobs?state=RUNNING&limit=100",
  );
  const several = jobs.find(({ totalTaskNumber }) => totalTaskNumber > 1)!;
  await berth.open(page, `/jobs/${several.username}/${several.name}/logs`);
  const tasks = page.locator("#log-task");
  const first = await tasks.inputValue();
  await page.keyboard.press("]");
  await expect(tasks).not.toHaveValue(first);
  const second = await tasks.inputValue();
  await expect.poll(() => new URL(page.url()).searchParams.get("task")).toBe(second);
  await page.keyboard.press("[");
  await expect(tasks).toHaveValue(first);
  await expect.poll(() => new URL(page.url()).searchParams.get("task")).toBe(first);
});

test("the finder opens by a slash where a page has no filter", async ({ page }) => {
  await berth.open(page, "/");
  await page.keyboard.press("/");
  const field = page.getByRole("combobox", { name: "Find a page, a job or a node" });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("");
});

test("single keys are turned off in the profile, and the browser remembers it", async ({ page }) => {
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  const single = page.getByRole("checkbox", { name: "Use single keys as shortcuts" });
  await berth.open(page, "/profile");
  await expect(single).toBeChecked();
  await single.uncheck();
  await page.reload();
  await expect(page.locator("body[data-alive]")).toBeAttached();
  await expect(single).not.toBeChecked();

  await berth.open(page, "/jobs?all=1");
  await expect(page.locator("tbody .job-name").first()).toBeVisible();
  for (const key of ["j", "/", "?"]) await page.keyboard.press(key);
  await expect(page.locator("tbody .job-name:focus, [data-filter]:focus")).toHaveCount(0);
  await expect(page.locator("dialog[open]")).toHaveCount(0);
  // What is held with Ctrl is none of them.
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox", { name: "Find a page, a job or a node" })).toBeFocused();
  await page.keyboard.press("Escape");

  // The list is reached without a key, and they are turned on again.
  await berth.open(page, "/profile");
  await page.getByRole("button", { name: "Show all shortcuts" }).click();
  await expect(list).toBeVisible();
  await list.getByRole("button", { name: "Close" }).click();
  await single.check();
  await berth.open(page, "/jobs?all=1");
  await page.keyboard.press("?");
  await expect(list).toBeVisible();
});

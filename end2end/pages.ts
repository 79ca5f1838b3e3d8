// What a person does on Berth's pages, by the names that a screen reader says.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type APIRequestContext, type Locator, type Page, expect } from "@playwright/test";

/** Opens a page and waits until the browser's part has taken it over. What changes from its rendering on it hears of. */
export async function open(page: Page, path: string) {
  await page.goto(path);
  await expect(page.locator("body[data-alive]")).toBeAttached();
}

/** Puts a job of one task there, as a script would. */
export async function put(request: APIRequestContext, baseURL: string | undefined, name: string, command: string) {
  const answer = await request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: {
      jobName: name,
      image: "berth/base:latest",
      taskRoles: [{ name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command }],
    },
  });
  expect(answer.status(), await answer.text()).toBeLessThan(300);
}

const MARKUP =
  "\n\n{ // </textarea></form></div></main><meta http-equiv=refresh content='0;url=/nodes'>" +
  "<form action=/fn/users/add method=post><input name=name value=evil>" +
  "<button style='position:fixed;inset:0;z-index:9'>x</button></form> &lt;\n}";

/** A text that ends the field that shows it and goes on as a page that leads elsewhere and a form under any click. */
export const ATTACK = { text: MARKUP, address: `/submit?way=editor&text=${encodeURIComponent(MARKUP)}` };

/** Stops a job of the administrator by REST; one that has ended, or never was, stays as it is. */
export async function stop(request: APIRequestContext, baseURL: string | undefined, name: string) {
  await request.put(`/api/v2/jobs/admin~${name}/executionType`, {
    headers: { Origin: baseURL ?? "" },
    data: { value: "STOP" },
  });
}

/** Waits until jobs that were stopped have ended and hold nothing any more. */
export async function settled(request: APIRequestContext) {
  const stopping = async () => {
    const jobs = await (await request.get("/api/v2/jobs?state=WAITING,RUNNING,STOPPING&limit=500")).json();
    return jobs.filter(({ executionType }: { executionType: string }) => executionType === "STOP").length;
  };
  await expect.poll(stopping, { timeout: 60_000 }).toBe(0);
}

/** Stops somebody's job (`user~name`) and waits until it has ended; one that never was is no matter. */
export async function end(request: APIRequestContext, baseURL: string | undefined, job: string) {
  const stop = { headers: { Origin: baseURL ?? "" }, data: { value: "STOP" } };
  await request.put(`/api/v2/jobs/${job}/executionType`, stop);
  const state = async () => String((await (await request.get(`/api/v2/jobs/${job}`)).json()).jobStatus?.state);
  await expect.poll(state, { timeout: 60_000 }).not.toMatch(/WAITING|PREPARING|RUNNING|STOPPING/);
}

/** The submit page shows the attack in its field and has nothing of it beside. */
export async function expectText(page: Page) {
  await expect(page.locator("textarea[name=text]")).toHaveValue(ATTACK.text);
  const added = "form[action='/fn/users/add'], meta[http-equiv=refresh], button[style]";
  await expect(page.locator(added)).toHaveCount(0);
  await expect(page).toHaveURL(/\/submit/);
}

/** The text of a job file. */
export function document(name: string): string {
  return readFileSync(documentPath(name), "utf8");
}

/** Where a job file is. */
export function documentPath(name: string): string {
  return resolve("documents", name);
}

/** Goes to one of the three ways to write a job. */
export async function write(page: Page, way: "Form" | "Editor" | "File") {
  await page.getByRole("button", { name: way, exact: true }).click();
}

/** Pastes a text into the editor of the job file, in the place of what is there. The browser must allow it. */
export async function paste(page: Page, text: string) {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.getByRole("textbox", { name: /^(Editor of the job file|作业文件编辑器)/ }).focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("ControlOrMeta+V");
}

/** Submits what is written and waits for the job's page. */
export async function submit(page: Page, name: string) {
  await page.getByRole("button", { name: /^Submit/ }).click();
  await expect(page).toHaveURL(new RegExp(`/jobs/admin/${name}$`));
  await expect(page.getByRole("heading", { level: 1 })).toContainText(name);
}

/** The job's own state on its page. */
export function state(page: Page): Locator {
  return page.locator(".job-head [role=status] [data-state]");
}

/** Waits until the job's page says a state. Nothing is loaded anew: the page follows by itself. */
export async function becomes(page: Page, expected: string) {
  await expect(state(page)).toHaveAttribute("data-state", expected, { timeout: 60_000 });
}

/** Leaves a mark in the page that a reload would wipe out. */
export async function mark(page: Page) {
  await page.evaluate(() => Object.assign(window, { neverReloaded: true }));
}

/** Whether the mark is still there. */
export async function expectNoReload(page: Page) {
  expect(await page.evaluate(() => "neverReloaded" in window)).toBe(true);
}

/** Says yes to a question once it says what the change would do. */
export async function confirm(page: Page) {
  const question = page.getByRole("dialog");
  await expect(question).toBeVisible();
  await expect(question).not.toContainText("is being found out");
  await question.getByRole("button").last().click();
  await expect(question).toBeHidden();
}

/** Keeps new jobs waiting: the only node takes nothing while the work goes on. */
export async function whileDrained(page: Page, work: () => Promise<void>) {
  const other = await page.context().newPage();
  await open(other, "/nodes/quay");
  await other.getByRole("button", { name: "Drain", exact: true }).click();
  await confirm(other);
  const again = other.getByRole("button", { name: "Take tasks again" });
  await expect(again).toBeVisible();
  await work();
  await again.click();
  await confirm(other);
  await expect(other.getByRole("button", { name: "Drain", exact: true })).toBeVisible();
  await other.close();
}

/** Opens the tab of the logs, chooses a task and gives its log. */
export async function log(page: Page, task: string): Promise<Locator> {
  await page.getByRole("link", { name: "Logs", exact: true }).click();
  await page.getByRole("combobox", { name: "Task" }).selectOption(task);
  return page.getByRole("region", { name: `Log of ${task}` });
}

/** Tells a page that it is hidden, or shown again: browsers without a window never hide any. */
export async function look(page: Page, visible: boolean) {
  await page.evaluate((visible) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => !visible });
    document.dispatchEvent(new Event("visibilitychange"));
  }, visible);
}

/** Saves a picture of the whole page for people to look at. */
export async function picture(page: Page, name: string) {
  await page.screenshot({ path: join("test-results/pictures", `${name}.png`), fullPage: true });
}

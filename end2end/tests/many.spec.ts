// The same done with many jobs, from the list, on the seeded cluster.
import { type Page } from "@playwright/test";
import * as berth from "../pages";
import { expect, test } from "../seeded";

const NAMES = ["bulk-a", "bulk-b", "bulk-c"];

/** Ticks all jobs that the filter finds, by the keyboard alone. */
async function tick(page: Page, filter: string, count: number) {
  await berth.open(page, `/jobs?q=${encodeURIComponent(filter)}`);
  await expect(page.locator("tbody tr")).toHaveCount(count);
  await page.getByRole("checkbox", { name: "Select all jobs on this page" }).focus();
  await page.keyboard.press("Space");
  await expect(page.getByText(`${count} selected`)).toBeVisible();
}

/** Opens the question, and answers it. */
async function ask(page: Page, act: string, answer: (question: ReturnType<Page["getByRole"]>) => Promise<void>) {
  await page.getByRole("button", { name: act }).first().focus();
  await page.keyboard.press("Enter");
  const question = page.getByRole("dialog");
  await expect(question).toBeVisible();
  await answer(question);
  await question.getByRole("button", { name: act }).click();
  await expect(question).toBeHidden();
}

test("many jobs are tagged, stopped, run again and deleted, each with its own answer", async ({ page, request, baseURL }) => {
  const states = async (filter: string) => {
    const jobs = await (await request.get(`/api/v2/jobs?q=${encodeURIComponent(filter)}`)).json();
    return (jobs as { state: string }[]).map((job) => job.state);
  };
  for (const name of NAMES) await berth.put(request, baseURL, name, "sleep 600");

  await tick(page, "user:me name:bulk-", 3);
  await ask(page, "Tag 3 jobs", async (question) => {
    for (const name of NAMES) await expect(question).toContainText(`admin~${name}`);
    await expect(question).toContainText("beside those that it has");
    await question.getByRole("textbox", { name: "Which tag" }).fill("nightly run");
    await berth.picture(page, "tag-many");
  });
  await expect(page.getByText("3 jobs were changed")).toBeVisible();

  await tick(page, 'tag:"nightly run"', 3);
  await ask(page, "Stop 3 jobs", async (question) => {
    await expect(question).toContainText("GPUs given back");
  });
  await expect(page.getByText("3 jobs were asked to stop")).toBeVisible();
  await expect
    .poll(async () => (await states('tag:"nightly run"')).every((state) => state === "STOPPED"), { timeout: 60_000 })
    .toBe(true);

  await tick(page, 'tag:"nightly run"', 3);
  await expect(page.getByRole("button", { name: /^Stop/ })).toHaveCount(0);
  await ask(page, "Run 3 jobs again", async (question) => {
    await expect(question).toContainText("under a new name");
  });
  await expect(page.getByText("3 jobs were submitted again")).toBeVisible();
  await expect(page.locator(".many-answer a")).toHaveCount(3);
  expect(await states("user:me name:bulk-")).toHaveLength(6);

  await tick(page, 'tag:"nightly run"', 3);
  await ask(page, "Delete 3 jobs", async (question) => {
    await expect(question).toContainText("gone for good");
    await question.getByRole("button", { name: "Cancel" }).click();
    await expect(question).toBeHidden();
    await page.getByRole("button", { name: "Delete 3 jobs" }).first().click();
  });
  await expect(page.getByText("3 jobs were deleted")).toBeVisible();
  expect(await states('tag:"nightly run"')).toHaveLength(0);

  await berth.open(page, "/jobs?q=user%3Ame+name%3Abulk-");
  const left = await (await request.get("/api/v2/jobs?q=user%3Ame+name%3Abulk-")).json();
  const jobs = (left as { username: string; name: string }[]).map((job) => `${job.username}~${job.name.split("~").pop()}`);
  const stopped = await request.post("/api/v2/many-jobs/stop", { headers: { Origin: baseURL ?? "" }, data: { jobs } });
  expect((await stopped.json()).every((each: { done: boolean }) => each.done)).toBe(true);
  // Nothing of theirs goes on where other specs count.
  await expect
    .poll(async () => (await states("user:me name:bulk-")).every((state) => state === "STOPPED"), { timeout: 60_000 })
    .toBe(true);
});

test("what is refused stays ticked and says why", async ({ page }) => {
  // Jobs that run have their place: their priority is theirs.
  await berth.open(page, "/jobs?all=1&q=state:running");
  const boxes = page.locator("tbody").getByRole("checkbox");
  await boxes.nth(0).click();
  await boxes.nth(1).click();
  await page.getByRole("button", { name: "Tag 2 jobs" }).first().click();
  const question = page.getByRole("dialog");
  await question.getByRole("textbox", { name: "Which tag" }).fill("a\tb");
  await question.getByRole("button", { name: "Tag 2 jobs" }).click();
  await expect(question.getByRole("alert")).toBeVisible();
  await question.getByRole("button", { name: "Cancel" }).click();
  await ask(page, "Set the priority of 2 jobs", async (question) => {
    await expect(question.getByRole("alert"), "what was refused before").toHaveCount(0);
    await question.getByRole("combobox", { name: "Priority" }).selectOption("100");
  });
  await expect(page.getByText("2 jobs were left as before")).toBeVisible();
  await expect(page.locator(".notice--warn li")).toHaveCount(2);
  await expect(page.getByText("2 selected")).toBeVisible();
});

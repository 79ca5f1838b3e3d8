import { expect, test } from "@playwright/test";
import * as berth from "../pages";

test("a failing job says why it failed", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "fails", "echo about to fail; no-such-program; exit 127");
  await berth.open(page, "/jobs/admin/fails");
  await berth.becomes(page, "FAILED");
  await expect(page.getByText("Why did it end?")).toBeVisible();
  await expect(page.getByText("127").first()).toBeVisible();
  await expect(page.getByText(/no-such-program/).first()).toBeVisible();
  await berth.picture(page, "failed");
});

test("a running job is stopped on its page", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "runs-long", "echo running; sleep 600");
  await berth.open(page, "/jobs/admin/runs-long");
  await berth.becomes(page, "RUNNING");
  await berth.mark(page);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop this job" }).click();
  await berth.becomes(page, "STOPPED");
  await berth.expectNoReload(page);
  await berth.picture(page, "stopped");
});

test("jobs that have ended are deleted, one on its page and others in the list", async ({ page, request, baseURL }) => {
  for (const name of ["gone-1", "gone-2", "gone-3"]) await berth.put(request, baseURL, name, "true");
  await berth.open(page, "/jobs/admin/gone-1");
  await berth.becomes(page, "SUCCEEDED");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete this job" }).click();
  await expect(page).toHaveURL(/\/jobs$/);
  expect((await request.get("/api/v2/jobs/admin~gone-1")).status()).toBe(404);

  const ended = async () => (await (await request.get("/api/v2/jobs?q=name:gone-+state:succeeded")).json()).length;
  await expect.poll(ended, { timeout: 60_000 }).toBe(2);
  await berth.open(page, "/jobs?q=name:gone-");
  await page.getByRole("checkbox", { name: "Select all jobs on this page" }).click();
  await expect(page.getByRole("button", { name: /^Stop/ })).toHaveCount(0);
  await page.getByRole("button", { name: "Delete 2 jobs" }).click();
  const question = page.getByRole("dialog");
  await expect(question).toContainText("admin~gone-2");
  await berth.picture(page, "delete-many");
  await question.getByRole("button", { name: "Delete 2 jobs" }).click();
  await expect(page.getByText("2 jobs were deleted")).toBeVisible();
  await expect(page.getByText("No job matches this filter")).toBeVisible();
});

test("the question before a deletion stays while the job changes", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "asked-about", "true");
  await berth.open(page, "/jobs/admin/asked-about");
  await berth.becomes(page, "SUCCEEDED");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Delete asked-about?" });
  await expect(question).toBeVisible();
  for (const value of ["first", "second"]) {
    const headers = { Origin: baseURL ?? "" };
    const tagged = await request.put("/api/v2/jobs/admin~asked-about/tag", { headers, data: { value } });
    expect(tagged.ok(), await tagged.text()).toBe(true);
    // All of the page has been read anew.
    await expect(page.locator(".job-tags")).toContainText(value);
    await expect(question).toBeVisible();
  }
  await question.getByRole("button", { name: "Delete this job" }).click();
  await expect(page).toHaveURL(/\/jobs$/);
  expect((await request.get("/api/v2/jobs/admin~asked-about")).status()).toBe(404);
});

test("the log of a running job is followed line by line", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "counts", "for i in 1 2 3 4 5 6; do echo line $i; sleep 1; done");
  await berth.open(page, "/jobs/admin/counts/logs");
  const log = page.getByRole("region", { name: "Log of main-0" });
  await expect(log).toContainText("line 1");
  await expect(log).toContainText("line 6");
});

test("a job is cloned into the editor of a new one", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "original", "true");
  await berth.open(page, "/jobs/admin/original");
  await page.getByRole("link", { name: "Clone" }).click();
  await expect(page).toHaveURL(/\/submit\?clone=/);
  await expect(page.getByText("Clone of admin~original")).toBeVisible();
  const difference = page.locator(".difference");
  await expect(difference.locator("summary")).toHaveText("1 line differs from admin~original");
  await expect(difference.locator("ins")).toBeHidden();
  await difference.locator("summary").click();
  await expect(difference.locator("ins")).toContainText(/original_[0-9a-z]{6}/);
  await expect(difference.locator("del")).toContainText(/"original"/);
  await berth.picture(page, "clone");
});

import { expect, test } from "@playwright/test";
import * as berth from "../pages";

test("draining says what it does before it is done", async ({ page, request, baseURL }) => {
  await berth.settled(request);
  await berth.put(request, baseURL, "goes-on", "sleep 600");
  await berth.open(page, "/jobs/admin/goes-on");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/nodes/quay");
  const drain = page.getByRole("button", { name: "Drain", exact: true });
  await drain.click();
  const question = page.getByRole("dialog");
  await expect(question).toContainText("until its end: 1 job of default (admin~goes-on)");
  await berth.picture(page, "drain");
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(question).toBeHidden();
  await expect(drain).toBeVisible();
  await berth.whileDrained(page, async () => {
    await expect(page.getByText("Draining").first()).toBeVisible();
  });
  await request.put("/api/v2/jobs/admin~goes-on/executionType", {
    headers: { Origin: baseURL ?? "" },
    data: { value: "STOP" },
  });
});

test("a waiting job says why, is moved, held and released", async ({ page, request, baseURL }) => {
  await berth.whileDrained(page, async () => {
    await berth.put(request, baseURL, "waits-first", "true");
    await berth.put(request, baseURL, "waits-second", "true");
    await berth.open(page, "/jobs/admin/waits-second");
    await berth.mark(page);
    await expect(page.getByText("Why is it waiting?")).toBeVisible();
    await expect(page.getByText("Place 2 in the queue of default")).toBeVisible();
    await page.getByRole("button", { name: "To the front" }).click();
    await berth.confirm(page);
    await expect(page.getByText("Place 1 in the queue of default")).toBeVisible();
    await page.getByRole("button", { name: "Hold", exact: true }).click();
    await expect(page.getByRole("dialog")).toContainText("does not start until it is released");
    await berth.confirm(page);
    await expect(page.getByText("Held by admin").first()).toBeVisible();
    await berth.picture(page, "held");
    await page.getByRole("combobox", { name: "Priority" }).selectOption("Production (prod)");
    await page.getByRole("button", { name: "Set priority" }).click();
    await berth.confirm(page);
    await expect(page.locator(".facts").getByText("Production (prod)")).toBeVisible();
  });
  await expect(page.getByText("Held by admin").first()).toBeVisible();
  await page.getByRole("button", { name: "Release" }).click();
  await expect(page.getByRole("dialog")).toContainText("Would start: 1 job of default (admin~waits-second)");
  await berth.confirm(page);
  await berth.becomes(page, "SUCCEEDED");
  await berth.expectNoReload(page);
});

test("saving a share says what it does", async ({ page }) => {
  await berth.open(page, "/admin/clusters");
  await page.getByLabel("Name", { exact: true }).fill("vision");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("dialog")).toContainText("Save vision");
  await berth.confirm(page);
  await expect(page.getByRole("rowheader", { name: "vision" })).toBeVisible();
});

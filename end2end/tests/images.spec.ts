import { expect, test } from "@playwright/test";
import * as berth from "../pages";

const IMAGE = "saved/admin/torch:1";

test("a task's container is saved, offered to new jobs and removed", async ({ page, request, baseURL }) => {
  const role = { taskNumber: 1, cpuNumber: 1, memoryMB: 128, gpuNumber: 0, command: "sleep 600" };
  const answer = await request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: { jobName: "imaged", image: "berth/base:latest", taskRoles: [{ name: "worker", ...role }] },
  });
  expect(answer.status(), await answer.text()).toBeLessThan(300);
  await berth.open(page, "/jobs/admin/imaged/tasks");
  await berth.becomes(page, "RUNNING");
  await berth.mark(page);
  await page.getByRole("button", { name: "Save as image…" }).click();
  const dialog = page.getByRole("dialog", { name: "Save worker-0 as an image" });
  await expect(dialog.getByText(/are new; the whole image takes/)).toBeVisible();
  await dialog.getByLabel("Name").fill("../torch");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("allowed are");
  await berth.picture(page, "save-image");
  await dialog.getByLabel("Name").fill("torch");
  await dialog.getByLabel("Tag").fill("1");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  const row = page.getByRole("row", { name: new RegExp(IMAGE) });
  await expect(row.locator("[data-state]")).toHaveAttribute("data-state", "SAVED");
  await expect(dialog).toBeHidden();
  await berth.expectNoReload(page);
  await berth.picture(page, "saved-image");

  await berth.open(page, "/submit");
  const image = page.getByLabel("Image").first();
  await image.focus();
  await expect(page.locator(`datalist option[value="${IMAGE}"]`)).toHaveCount(1);
  await expect(image).toHaveAttribute("list", "saved-images");

  await berth.open(page, "/jobs/admin/imaged");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop this job" }).click();
  await berth.becomes(page, "STOPPED");
  await berth.open(page, "/profile");
  const listed = page.getByRole("row", { name: new RegExp(IMAGE) });
  await expect(listed).toContainText("admin~imaged");
  await berth.picture(page, "images");
  await listed.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText(/You have no saved images/)).toBeVisible();
});

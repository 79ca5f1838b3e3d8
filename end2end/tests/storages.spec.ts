import { expect, test } from "@playwright/test";
import * as berth from "../pages";

test("a storage is set up, ticked in a job's form, and there in its tasks", async ({ page, request, baseURL }) => {
  await berth.open(page, "/admin/storages");
  await page.locator('[name="storage[name]"]').fill("share");
  await page.locator('[name="storage[place]"]').fill("usr/share");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("not the path of a folder")).toBeVisible();
  await page.locator('[name="storage[place]"]').fill("/usr/share");
  await page.getByLabel("Tasks change nothing in it").check();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("row", { name: /share/ })).toContainText("read-only");
  await berth.picture(page, "storages");

  await berth.open(page, "/submit");
  await berth.write(page, "Form");
  await page.getByLabel("Name", { exact: true }).fill("with-storage");
  await page.getByLabel("Image", { exact: true }).fill("berth/base:latest");
  await page.getByLabel("CPU cores").fill("1");
  await page.getByLabel("Memory, MB", { exact: true }).fill("256");
  const command = 'ls -d "$BERTH_MOUNT_SHARE"; touch "$BERTH_MOUNT_SHARE/x" || echo as it should be; sleep 600';
  await page.getByLabel("Command", { exact: true }).fill(command);
  await page.getByText("Code, data and output").click();
  await page.getByRole("checkbox", { name: /share/ }).check();
  await berth.submit(page, "with-storage");
  await berth.becomes(page, "RUNNING");
  await page.getByRole("link", { name: "Connect", exact: true }).click();
  const mounted = page.getByRole("region", { name: "Storages" }).first();
  await expect(mounted.getByRole("row", { name: /share/ })).toContainText("/mnt/share");
  await expect(mounted).toContainText("BERTH_MOUNT_SHARE");
  const log = await berth.log(page, "main-0");
  await expect(log).toContainText("/mnt/share");
  await expect(log).toContainText("as it should be");
  await berth.stop(request, baseURL, "with-storage");
  const gone = await request.delete("/api/v2/storages/share", { headers: { Origin: baseURL ?? "" } });
  expect(gone.ok(), await gone.text()).toBe(true);
});

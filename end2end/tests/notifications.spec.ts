import { expect, test } from "@playwright/test";
import * as berth from "../pages";

test("one chooses what one is told, and how", async ({ page }) => {
  await berth.open(page, "/profile");
  const section = page.getByRole("region", { name: "Notifications" }).first();
  await expect(section).toContainText("This installation sends no mail");
  await section.getByLabel("A job fails").check();
  await section.getByLabel("Webhook").fill("https://10.0.0.1/hook");
  await section.getByRole("button", { name: "Save" }).click();
  await expect(section.getByRole("alert")).toContainText("private network");
  await section.getByLabel("Webhook").fill("https://example.org/hook");
  await section.getByRole("button", { name: "Save" }).click();
  await expect(section).toContainText("X-Berth-Signature");
  await page.reload();
  await expect(section.getByLabel("A job fails")).toBeChecked();
  await expect(section.getByLabel("A job starts")).not.toBeChecked();
  await section.getByLabel("Webhook").fill("");
  await section.getByLabel("A job fails").uncheck();
  await section.getByRole("button", { name: "Save" }).click();
  await expect(section).not.toContainText("X-Berth-Signature");
  await section.getByRole("button", { name: "Send a test" }).click();
  await expect(section).toContainText("Nothing is sent: choose mail or a webhook, and save.");
});

// The steps that SCM's manual asks for, in Chinese by its own words.
import { type Page, expect } from "@playwright/test";
import * as berth from "./pages";

/** Opens the first page in Chinese and gives its menu. */
export async function inChinese(page: Page, url: string | undefined) {
  await page.context().addCookies([{ name: "berth_language", value: "zh", url }]);
  await berth.open(page, "/");
  return page.getByRole("navigation", { name: "主导航" });
}

/** Submits what is written, finds the job among the others and opens it there. */
export async function submitted(page: Page, name: string) {
  await page.getByRole("button", { name: /^提交/ }).click();
  await expect(page).toHaveURL(`/jobs/admin/${name}`);
  await berth.becomes(page, "RUNNING");
  await page.getByRole("navigation", { name: "主导航" }).getByRole("link", { name: "作业管理" }).click();
  const row = page.getByRole("row", { name: new RegExp(name) });
  await expect(row).toContainText("运行中");
  await row.getByRole("link", { name, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
}

/** Opens a part of a job's page. */
export function part(page: Page, name: string) {
  return page.getByRole("navigation", { name: "作业内容" }).getByRole("link", { name, exact: true }).click();
}

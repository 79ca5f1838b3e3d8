// The steps that SCM's manual asks for, in Chinese by its own words.
import { type Page, expect } from "@playwright/test";
import * as berth from "./pages";
import { PASSWORD } from "./server";

/** Opens the first page in Chinese and gives its menu. */
export async function inChinese(page: Page, url: string | undefined) {
  await page.context().addCookies([{ name: "berth_language", value: "zh", url }]);
  await berth.open(page, "/");
  return page.getByRole("navigation", { name: "主导航" });
}

/** Signs somebody in who has never been here, in Chinese from the first page on, and gives the menu. */
export async function signInInChinese(page: Page, name: string) {
  await berth.open(page, "/");
  const kept = page.waitForResponse("**/fn/preferences/language");
  await page.getByRole("button", { name: "简体中文" }).click();
  await kept;
  await page.getByLabel("用户名").fill(name);
  await page.getByLabel("密码").fill(PASSWORD);
  await page.getByRole("button", { name: "登录" }).click();
  await expect(page).toHaveURL("/");
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await expect(page.locator("body[data-alive]")).toBeAttached();
  return page.getByRole("navigation", { name: "主导航" });
}

/** Submits what is written, finds the job among the others and opens it there. */
export async function submitted(page: Page, name: string, user = "admin") {
  await page.getByRole("button", { name: /^提交/ }).click();
  await expect(page).toHaveURL(`/jobs/${user}/${name}`);
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

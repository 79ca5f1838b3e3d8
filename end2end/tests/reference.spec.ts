// What programs can ask for, read and tried by somebody.
import { expect, test } from "@playwright/test";
import * as berth from "../pages";
import { isChinese, saidIn } from "../words";

test("the reference is as dark as the page", async ({ page }) => {
  await page.goto("/reference");
  const tag = page.locator(".reference .opblock-tag").first();
  await expect(tag).toBeVisible();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    const text = await page.evaluate(() => getComputedStyle(document.body).color);
    await expect(tag).toHaveCSS("color", text);
    await expect(page.locator(".reference .swagger-ui")).toHaveCSS("color", text);
  }
});

test("an operation is found on the profile's way, and tried as oneself", async ({ page }) => {
  await page.goto("/profile");
  await page.getByRole("link", { name: "API reference" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "API reference" })).toBeVisible();
  const reference = page.locator(".reference");
  await reference.getByText("v2 tokens", { exact: true }).click();
  await reference.locator('[data-path="/api/v2/tokens/check"]').click();
  await reference.getByRole("button", { name: "Try it out" }).click();
  await reference.getByRole("button", { name: "Execute", exact: true }).click();
  await expect(reference.locator(".live-responses-table")).toContainText('"username": "admin"');
});

test("the viewer speaks the reader's language, and what it shows stays as it is", async ({ page, baseURL }) => {
  await page.context().addCookies([{ name: "berth_language", value: "zh", url: baseURL }]);
  await berth.open(page, "/reference");
  await expect(page.getByText("名称和说明均为英文")).toBeVisible();
  const reference = page.locator(".reference");
  await reference.getByText("v2 tokens", { exact: true }).click();
  await reference.locator(".opblock-post .opblock-summary-control").first().click();
  const check = reference.locator(".opblock", { has: page.locator('[data-path="/api/v2/tokens/check"]') });
  await check.locator(".opblock-summary-control").click();
  await check.getByRole("button", { name: "试用" }).click();
  await check.getByRole("button", { name: "执行", exact: true }).click();
  await expect(check.locator(".live-responses-table")).toContainText('"username": "admin"');
  await reference.getByRole("button", { name: "授权", exact: true }).click();
  await expect(reference.getByRole("heading", { name: "可用的授权方式" })).toBeVisible();

  const terms = ["Curl", "default", "(http, Bearer)", "(http, Basic)"];
  const isForeign = (text: string) => /[A-Za-z]{2}/.test(text) && !isChinese(text) && !terms.includes(text);
  expect((await saidIn(reference)).filter(isForeign)).toEqual([]);
  await expect(reference.locator(".info .description")).toContainText("What programs can ask of this server");
  await expect(check).toContainText("It is not done.");

  await reference.getByRole("button", { name: "关闭" }).first().click();
  await page.getByRole("button", { name: "English" }).click();
  await expect(check.getByRole("button", { name: "Execute", exact: true })).toBeVisible();
  expect((await saidIn(reference)).filter(isChinese)).toEqual([]);
});

// What programs can ask for, read and tried by somebody.
import { expect, test } from "@playwright/test";

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

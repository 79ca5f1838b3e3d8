import { expect, test } from "@playwright/test";
import { picture } from "../pages";
import { PASSWORD } from "../server";

test.use({ storageState: { cookies: [], origins: [] } });

test("who is not signed in is asked to sign in and then sees what was asked for", async ({ page }) => {
  await page.goto("/jobs");
  await expect(page).toHaveURL(/\/sign-in\?/);
  await picture(page, "sign-in");
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/jobs$/);
  await expect(page.getByRole("heading", { level: 1, name: "Jobs" })).toBeVisible();
});

test("a wrong password is refused and the page says so", async ({ page }) => {
  await page.goto("/sign-in");
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("User name or password is wrong.");
});

test("signing out ends the session", async ({ page }) => {
  await page.goto("/sign-in?next=/jobs");
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/jobs$/);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  await page.goto("/jobs");
  await expect(page).toHaveURL(/\/sign-in\?/);
});

import { type Page, expect, test } from "@playwright/test";
import { type Company, company } from "../company";
import { picture } from "../pages";
import { PASSWORD } from "../server";

// Signing in works without scripts, and so does everything here.
test.use({ storageState: { cookies: [], origins: [] }, javaScriptEnabled: false });

let there: Company;
test.beforeAll(async () => {
  there = await company();
});
test.afterAll(() => there.close());

async function byProvider(page: Page, name: string) {
  await page.goto(`${there.url}/sign-in?next=/profile`);
  await picture(page, "sign-in-by-company");
  await page.getByRole("link", { name: "Sign in with The Company" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to the company" })).toBeVisible();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(`password of ${name}`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(`${there.url}/profile`);
}

async function byPassword(page: Page, name: string, password: string) {
  await page.goto(`${there.url}/sign-in?next=/profile`);
  await page.getByLabel("User name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Submits a job to the virtual cluster that is for a group. */
async function submit(page: Page, name: string) {
  await page.goto(`${there.url}/submit`);
  const role = { name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command: "true" };
  const text = { jobName: name, image: "berth/base:latest", virtualCluster: "lab", taskRoles: [role] };
  await page.getByLabel("Job file, JSON or YAML").fill(JSON.stringify(text));
  await page.getByRole("button", { name: /^Submit/ }).first().click();
}

async function signOut(page: Page) {
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await expect(page).toHaveURL(/\/sign-in/);
}

test("somebody of the provider submits, signs out, and has no more rights than it says", async ({ page, context }) => {
  await byProvider(page, "ada");
  const account = page.getByRole("region", { name: "Account" });
  await expect(account).toContainText("You sign in with The Company");
  await expect(account).toContainText("ada@example.org");
  await expect(account.getByRole("row", { name: "vision" })).toContainText("The Company");
  await expect(page.getByLabel("Old password")).toHaveCount(0);
  await picture(page, "account-of-company");
  await submit(page, "by-provider");
  await expect(page).toHaveURL(/\/jobs\/ada\/by-provider/);
  await page.goto(`${there.url}/admin/users`);
  await expect(page.getByRole("row", { name: "ada" })).toContainText("The Company");
  await signOut(page);
  await expect(page.getByText("The Company still knows this browser")).toBeVisible();

  await there.putInto("ada", []);
  await context.clearCookies();
  await byProvider(page, "ada");
  await expect(page.getByRole("region", { name: "Account" })).toContainText("You are in no group.");
  await submit(page, "too-much");
  await expect(page.getByText("ada may not use the virtual cluster lab").filter({ visible: true }).first()).toBeVisible();
  await page.goto(`${there.url}/admin/users`);
  await expect(page.getByRole("row", { name: "ada" })).toHaveCount(0);
});

test("somebody of the directory submits, signs out, and has no more rights than it says", async ({ page }) => {
  await byPassword(page, "eve", "not her password");
  await expect(page.getByRole("alert")).toContainText("User name or password is wrong.");
  await byPassword(page, "eve", "password of eve");
  await expect(page.getByRole("region", { name: "Account" })).toContainText("You sign in with staff");
  await submit(page, "by-directory");
  await expect(page).toHaveURL(/\/jobs\/eve\/by-directory/);
  await signOut(page);

  there.takeOut("eve", "vision");
  await byPassword(page, "eve", "password of eve");
  await submit(page, "too-much");
  await expect(page.getByText("eve may not use the virtual cluster lab").filter({ visible: true }).first()).toBeVisible();
});

test("the administrator of the server gets in, in Chinese too", async ({ page, context }) => {
  await byPassword(page, "admin", PASSWORD);
  await expect(page).toHaveURL(`${there.url}/profile`);
  await context.clearCookies();
  await context.addCookies([{ name: "berth_language", value: "zh", url: there.url }]);
  await page.goto(`${there.url}/sign-in`);
  await expect(page.getByRole("link", { name: "使用 The Company 登录" })).toBeVisible();
});

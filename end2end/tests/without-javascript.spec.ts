import { expect, test } from "@playwright/test";
import { ATTACK, expectText, picture } from "../pages";
import { PASSWORD } from "../server";

test.use({ javaScriptEnabled: false, storageState: { cookies: [], origins: [] } });

test("everything can be read, and a job submitted, without JavaScript", async ({ page }) => {
  await page.goto("/");
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  for (const [path, title] of [
    ["/jobs", "Jobs"],
    ["/clusters", "Virtual clusters"],
    ["/nodes", "Nodes"],
    ["/usage", "Usage"],
    ["/profile", "Profile"],
    ["/reference", "API reference"],
    ["/submit", "Submit a job"],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1, name: title })).toBeVisible();
  }
  await page.goto("/nodes");
  await expect(page.getByText("quay").first()).toBeVisible();

  await page.goto(ATTACK.address);
  await expectText(page);

  await page.goto("/submit");
  const text = page.getByLabel("Job file, JSON or YAML");
  await text.fill(
    JSON.stringify({
      jobName: "without-javascript",
      image: "berth/base:latest",
      taskRoles: [
        { name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command: "echo plain" },
      ],
    }),
  );
  await page.getByRole("button", { name: /^Submit/ }).first().click();
  await expect(page).toHaveURL(/\/jobs\/admin\/without-javascript/);
  // Without a script a page shows what was true when it was asked for: it is asked for again.
  await expect(async () => {
    await page.goto("/jobs/admin/without-javascript/logs");
    await expect(page.getByRole("region", { name: "Log of main-0" })).toContainText("plain", { timeout: 500 });
  }).toPass({ timeout: 30_000 });
  await picture(page, "without-javascript");
});

test("without JavaScript the terminal says how to enter by SSH", async ({ page, baseURL }) => {
  await page.goto("/");
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  const answer = await page.request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: {
      jobName: "entered-by-ssh",
      image: "berth/base:latest",
      taskRoles: [
        { name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command: "sleep 600" },
      ],
    },
  });
  expect(answer.status()).toBeLessThan(300);
  await expect(async () => {
    await page.goto("/jobs/admin/entered-by-ssh/terminal");
    const command = page.getByText(/ssh -i admin~entered-by-ssh -p \d+ root@[\d.]+/);
    await expect(command).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 30_000 });
  const stop = { headers: { Origin: baseURL ?? "" }, data: { value: "STOP" } };
  await page.request.put("/api/v2/jobs/admin~entered-by-ssh/executionType", stop);
});

// What a job file declares once and refers to by name, written in the form.
import AxeBuilder from "@axe-core/playwright";
import { type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

const JOB = `# kept
protocolVersion: 2
name: declared
type: job
prerequisites:
  - name: base # of every task
    type: dockerimage
    uri: berth/base:latest
taskRoles:
  main:
    instances: 1
    dockerImage: base
    resourcePerInstance:
      cpu: 1
      memoryMB: 256
      gpu: 0
    commands:
      - echo rate <% $parameters.rate %>; [ "<% $secrets.token %>" = s3cret ] && echo opened
`;

const exact = (page: Page, label: string) => page.getByLabel(label, { exact: true });

/** Writes a name, which is taken once it is written whole. */
async function call(page: Page, label: string, at: number, name: string) {
  await exact(page, label).nth(at).fill(name);
  await exact(page, label).nth(at).blur();
}

test("secrets, parameters and images are written in the form, and a clone keeps what nobody sees", async ({ page }) => {
  await berth.open(page, "/submit");
  await berth.write(page, "Editor");
  await berth.paste(page, JOB);
  await berth.write(page, "Form");
  const text = page.locator("textarea[name=text]");
  await page.getByText("Secrets, parameters and prerequisites", { exact: true }).click();

  await page.getByRole("button", { name: "Add secret" }).click();
  await call(page, "Secret", 0, "token");
  const secret = exact(page, "Its value");
  await expect(secret).toHaveAttribute("type", "password");
  await secret.fill("s3cret");
  await expect(text).toHaveValue(/secrets:\s+token: s3cret/);

  await page.getByRole("button", { name: "Add parameter" }).click();
  await call(page, "Parameter", 0, "rate");
  await exact(page, "Parameter value").fill("0.25");
  await expect(text).toHaveValue(/parameters:\s+rate: 0\.25/);

  await page.getByRole("button", { name: "Add prerequisite" }).click();
  await call(page, "Prerequisite", 1, "spare");
  await exact(page, "Image of that name").nth(1).fill("berth/base:latest");
  await exact(page, "Image by its name").selectOption("spare");
  await expect(text).toHaveValue(/name: spare\s+type: dockerimage\s+uri: berth\/base:latest/);
  await call(page, "Prerequisite", 1, "torch");
  await expect(text).toHaveValue(/dockerImage: torch/);
  // All else stays as it was written.
  await expect(text).toHaveValue(/^# kept\n[^]*name: base # of every task/);

  const { violations } = await new AxeBuilder({ page }).include(".declared").analyze();
  expect(violations).toEqual([]);
  await berth.picture(page, "submit-declared");
  await berth.submit(page, "declared");
  await berth.becomes(page, "SUCCEEDED");
  const log = await berth.log(page, "main-0");
  await expect(log).toContainText("rate 0.25");
  await expect(log).toContainText("opened");

  await berth.open(page, "/submit?clone=admin~declared");
  await expect(secret).toBeVisible();
  await expect(secret).toHaveValue("");
  await expect(page.getByText("Empty: the value of the job that this is a clone of.")).toBeVisible();
  await expect(text).not.toHaveValue(/s3cret["'\n]/);
  await expect(text).toHaveValue(/token: ['"]?\*{6}/);
  await exact(page, "Name").fill("declared_again");
  await secret.fill("other");
  await expect(text).toHaveValue(/token: ['"]?other/);
  await secret.fill("");
  await expect(text).toHaveValue(/token: ['"]?\*{6}/);
  await berth.submit(page, "declared_again");
  await berth.becomes(page, "SUCCEEDED");
  await expect(await berth.log(page, "main-0")).toContainText("opened");
});

test("a file of version 1 has secrets alone, and their fields come when somebody comes near", async ({ page }) => {
  await berth.open(page, "/submit");
  const fields = page.locator(".declared__fields");
  await expect(page.locator(".declared > summary")).toHaveText("Secrets");
  await expect(fields).toHaveCount(0);
  await exact(page, "Name").focus();
  await expect(fields).toBeAttached();
  await page.locator(".declared > summary").press("Enter");
  await page.getByRole("button", { name: "Add secret" }).click();
  await call(page, "Secret", 0, "token");
  await expect(page.getByRole("button", { name: "Add parameter" })).toHaveCount(0);
  await expect(page.locator("textarea[name=text]")).toHaveValue(/"secrets":\s*\{\s*"token":\s*""/);
});

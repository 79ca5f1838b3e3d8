import { type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

/** Follows one job from the queue to its end on one page that is never loaded anew. */
async function followToTheEnd(page: Page, name: string, task: string, lines: RegExp[]) {
  await berth.becomes(page, "SUCCEEDED");
  await berth.expectNoReload(page);
  const log = await berth.log(page, task);
  for (const line of lines) await expect(log).toContainText(line);
  await berth.expectNoReload(page);
  await berth.picture(page, `log-${name}`);
}

async function submitAndFollow(page: Page, name: string, task: string, lines: RegExp[]) {
  await berth.whileDrained(page, async () => {
    await berth.submit(page, name);
    await berth.mark(page);
    await berth.becomes(page, "WAITING");
    await berth.picture(page, `waiting-${name}`);
  });
  await berth.becomes(page, "RUNNING");
  await berth.picture(page, `running-${name}`);
  await followToTheEnd(page, name, task, lines);
}

test("a text that would be markup stays a text", async ({ page }) => {
  await berth.open(page, berth.ATTACK.address);
  await berth.expectText(page);
});

test("a hello-world by the form", async ({ page }) => {
  await berth.open(page, "/submit");
  await berth.write(page, "Form");
  await page.getByLabel("Name", { exact: true }).fill("hello-form");
  await page.getByLabel("Image", { exact: true }).fill("berth/base:latest");
  await page.getByLabel("CPU cores").fill("1");
  await page.getByLabel("Memory, MB", { exact: true }).fill("256");
  await page.getByLabel("Command", { exact: true }).fill("echo hello from $PAI_JOB_NAME; sleep 3; echo done");
  await berth.picture(page, "submit-form");
  await submitAndFollow(page, "hello-form", "main-0", [/hello from hello-form/, /done/]);
});

test("a hello-world by pasting JSON", async ({ page }) => {
  await berth.open(page, "/submit");
  await berth.write(page, "Editor");
  await berth.paste(page, berth.document("helloworld.json"));
  await berth.picture(page, "submit-editor");
  await submitAndFollow(page, "helloworld_16be675e", "task_1-0", [/hello on Linux/, /GPU_COUNT=1/, /goodbye/]);
});

test("a distributed job by uploading a file with comments", async ({ page }) => {
  await berth.open(page, "/submit");
  const verdict = page.locator(".verdict__line");
  await expect(verdict).toBeVisible();
  await berth.write(page, "File");
  await expect(verdict, "nothing is said of a file that is not chosen").toHaveCount(0);
  await page.getByLabel("Choose a file").setInputFiles(berth.documentPath("tensorflow-distributed.json"));
  await expect(page.getByText("tensorflow-distributed.json is in the editor now.")).toBeVisible();
  await expect(verdict).toBeVisible();
  await submitAndFollow(page, "tensorflow-distributed-jobguid", "ps_server-1", [
    /serving 127\.0\.0\.1:\d+,127\.0\.0\.1:\d+ as 1/,
  ]);
});

test("a job of the YAML protocol by pasting", async ({ page }) => {
  await berth.open(page, "/submit");
  await berth.write(page, "Editor");
  await berth.paste(page, berth.document("tensorflow_cifar10.yaml"));
  await submitAndFollow(page, "tensorflow_cifar10", "worker-0", [/--model=resnet20 --batch_size=32/, /trained/]);
});

test("mistakes are shown where they are, and nothing is submitted", async ({ page }) => {
  await berth.open(page, "/submit");
  await berth.write(page, "Editor");
  await berth.paste(page, '{"jobName": "bad name", "image": "a", "taskRole": []}');
  await page.getByRole("button", { name: /^Submit/ }).click();
  const problem = (place: string) => page.getByRole("listitem").filter({ hasText: place });
  await expect(problem("line 1, column 13")).toContainText('"bad name" is not a valid job name');
  await expect(problem("line 1, column 39")).toContainText('did you mean "taskRoles"?');
  await expect(page).toHaveURL(/\/submit/);
  await berth.picture(page, "submit-mistakes");
});

test("what somebody shares is in the menu of templates", async ({ page, request, baseURL }) => {
  const role = { name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command: "echo shared" };
  const text = JSON.stringify({ jobName: "says-shared", image: "berth/base:latest", taskRoles: [role] });
  const headers = { Origin: baseURL ?? "" };
  const address = "/api/v2/templates/for-all";
  const shared = await request.put(address, { headers, data: { text, description: "It says so." } });
  expect(shared.ok(), await shared.text()).toBe(true);
  const asked: string[] = [];
  page.on("request", (sent) => asked.push(new URL(sent.url()).pathname));
  await berth.open(page, "/submit");
  expect(asked).not.toContain("/fn/templates/list");
  await page.locator("summary", { hasText: "Templates" }).click();
  await page.getByRole("link", { name: /for-all.*It says so\./ }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue(/^says-shared_/);
  await request.delete(address, { headers });
});

// The job files of SCM's manual, as it prints them, on the seeded cluster.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { inChinese, part, submitted } from "../manual";
import * as berth from "../pages";
import { expect, test } from "../seeded";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

/** What was submitted here and runs until it is stopped. */
const running: string[] = [];

// Other specs count what runs on the same cluster: it has ended before they do.
test.afterEach(async ({ request, baseURL }) => {
  for (const job of running.splice(0)) await berth.end(request, baseURL, job);
});

test("the manual's job files are taken as they are printed, pasted and as a file", async ({ page, cluster }) => {
  const menu = await inChinese(page, cluster.url);
  const text = page.locator("textarea[name=text]");
  const hello = readFileSync(resolve("../src/protocol/fixtures/scm.json"), "utf8");
  await menu.getByRole("link", { name: "提交作业" }).click();
  await page.getByRole("button", { name: "JSON/YAML" }).click();
  await berth.paste(page, hello);
  await expect(text).toHaveValue(hello);
  await expect(page.getByText(/^现在即可在 sim-titanx-\d+ 上启动$/)).toBeVisible();
  running.push("admin~helloworld_16be675e");
  await submitted(page, "helloworld_16be675e");
  await expect(page.locator("pre.command")).toHaveText("nvidia-smi");
  const jupyter = berth.document("jupyter.json");
  await menu.getByRole("link", { name: "提交作业" }).click();
  await page.getByRole("button", { name: "导入文件" }).click();
  await page.getByLabel("选择文件").setInputFiles(berth.documentPath("jupyter.json"));
  await expect(text).toHaveValue(jupyter);
  running.push("admin~jupyter_16be8b71");
  await submitted(page, "jupyter_16be8b71");
  await expect(page.locator("pre.command")).toHaveText(JSON.parse(jupyter).taskRoles[0].command);
  await part(page, "任务");
  const task = page.getByRole("row", { name: /task_1-0/ });
  await expect(task.locator(".copy__text")).toHaveText(/^\d+\.\d+\.\d+\.\d+$/);
  await expect(task.locator(".ports li").filter({ hasText: "jupyter" })).toHaveText(/^jupyter \d+$/);
  await part(page, "连接");
  await expect(page.getByRole("link", { name: "打开 jupyter" })).toHaveAttribute("href", /\/task_1\/0\/jupyter\/$/);
});

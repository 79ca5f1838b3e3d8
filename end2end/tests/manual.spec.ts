// What people know how to do: the steps of SCM's manual, in Chinese by its own words, and a newcomer's first job.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { inChinese, part, submitted } from "../manual";
import * as berth from "../pages";
import { PASSWORD } from "../server";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

/** What was submitted here and runs until it is stopped. */
const running: string[] = [];

// Other specs count what runs on the same cluster: it has ended before they do.
test.afterEach(async ({ request, baseURL }) => {
  for (const job of running.splice(0)) await berth.end(request, baseURL, job);
});

test("the manual's job is filled in as a form, watched, and entered in each way", async ({ page, baseURL }, info) => {
  const [name, code, home] = ["helloworld_lenet", info.outputPath("lenet"), info.outputPath("home")];
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, "lenet.py"), 'import os\nprint("epochs", os.environ["EPOCHS"])\n');
  const menu = await inChinese(page, baseURL);
  await menu.getByRole("link", { name: "文件" }).click();
  await page.getByLabel("选择文件夹").setInputFiles(code);
  await expect(page.getByText("已上传 1 个文件。")).toBeVisible();
  await menu.getByRole("link", { name: "提交作业" }).click();
  await page.getByRole("button", { name: "填写表单" }).click();
  await expect(page.getByRole("heading", { name: "基本信息" })).toBeVisible();
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const basics = { "名称": name, "镜像": "berth/base:latest", "角色名称": "task_1", "命令": "python3 code/lenet.py; sleep 600" };
  const each = { "GPU 数": "1", "CPU 核数": "1", "内存（MB）": "1024", "共享内存（MB）": "64", "硬盘（GB）": "5" };
  for (const [label, value] of Object.entries({ ...basics, ...each })) await field(label).fill(value);
  await field("GPU 型号").selectOption("TITANX");
  await page.getByText("环境变量", { exact: true }).click();
  await page.getByRole("button", { name: "添加变量" }).click();
  await field("名称").nth(1).fill("EPOCHS");
  await field("名称").nth(1).press("Tab");
  await field("值").fill("3");
  await expect(page.locator("textarea[name=text]")).toHaveValue(/"EPOCHS": ?"3"/);
  await page.getByText("代码、数据与输出", { exact: true }).click();
  await field("代码文件夹").fill("$PAI_DEFAULT_FS_URI/admin/lenet");
  running.push(`admin~${name}`);
  await submitted(page, name);
  await part(page, "日志");
  await expect(page.getByRole("region", { name: "task_1-0 的日志" })).toContainText("epochs 3");
  await part(page, "终端");
  await page.getByRole("button", { name: "打开终端" }).click();
  const shell = page.getByRole("region", { name: "task_1-0 的终端", exact: true });
  await expect(shell.getByRole("status").first()).toHaveText("已打开");
  await shell.getByRole("textbox", { name: "task_1-0 的终端", exact: true }).focus();
  await page.keyboard.type("echo web-$((40 + 2))\n");
  await expect(shell.locator(".xterm-rows")).toContainText("web-42");
  await part(page, "连接");
  const key = `admin~${name}`;
  const saving = page.waitForEvent("download");
  await page.getByRole("link", { name: `下载 ${key}` }).click();
  await (await saving).saveAs(join(home, "Downloads", key));
  // What the page gives to be copied is run as it stands there, in a home of the test's own.
  const copied = async (begin: RegExp) => (await page.getByText(begin).innerText()).replaceAll("~/", `${home}/`);
  const run = (command: string) => execFileSync("bash", ["-c", command], { encoding: "utf8", timeout: 20_000 });
  run(await copied(/^mkdir -p ~\/\.ssh /));
  const ssh = await copied(/^ssh -i /);
  expect(run(`${ssh} 'echo in $PAI_JOB_NAME'`)).toBe(`in ${name}\n`);
  const [, port = "no port", host = "no host"] = / -p (\d+) root@([\d.]+)$/.exec(ssh) ?? [];
  const pycharm = page.getByRole("region", { name: "PyCharm 专业版" }).locator("td code");
  await expect(pycharm).toContainText(["SFTP", host, port, "root", `~/.ssh/${key}`, "/", name, "python3"]);
});

test("a newcomer gets from signing in to a running job of two roles", async ({ browser, request, baseURL }) => {
  const data = { username: "newcomer", password: PASSWORD };
  expect((await request.post("/api/v2/users", { headers: { Origin: baseURL ?? "" }, data })).ok()).toBe(true);
  const context = await browser.newContext({ baseURL, storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  const broken: string[] = [];
  page.on("pageerror", (error) => broken.push(String(error)));
  // A field or a click is an act: how long it takes depends on who does it.
  let acts = 0;
  const act = async (done: Promise<void>) => {
    await done;
    acts += 1;
    await expect(page.getByRole("alert")).toHaveCount(0);
  };
  await page.goto("/");
  await act(page.getByLabel("User name").fill("newcomer"));
  await act(page.getByLabel("Password").fill(PASSWORD));
  await act(page.getByRole("button", { name: "Sign in" }).click());
  await expect(page).toHaveURL("/");
  await expect(page.locator("body[data-alive]")).toBeAttached();
  await berth.mark(page);
  await act(page.getByRole("link", { name: "Submit your first job" }).click());
  await act(page.getByLabel("Name", { exact: true }).fill("two-roles"));
  await act(page.getByRole("button", { name: "Add task role" }).click());
  for (const at of [0, 1]) {
    const role = page.locator("details.role").nth(at);
    await act(role.getByLabel("Role name").fill(["server", "worker"][at]));
    await act(role.getByLabel("Command", { exact: true }).fill("sleep 600"));
  }
  await expect(page.getByText("Fits now on quay")).toBeVisible();
  running.push("newcomer~two-roles");
  await act(page.getByRole("button", { name: /^Submit/ }).click());
  await expect(page).toHaveURL("/jobs/newcomer/two-roles");
  await berth.becomes(page, "RUNNING");
  await act(page.getByRole("link", { name: "Tasks", exact: true }).click());
  await expect(page.locator(".table--tasks [data-state=RUNNING]")).toHaveCount(2);
  expect(acts).toBeLessThanOrEqual(20);
  await berth.expectNoReload(page);
  expect(broken).toEqual([]);
  await context.close();
});

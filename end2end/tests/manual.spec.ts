// What people know how to do: the steps of SCM's manual, in Chinese by its own words, and a newcomer's first job.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type APIRequestContext, type Browser, expect, test } from "@playwright/test";
import { part, signInInChinese, submitted } from "../manual";
import * as berth from "../pages";
import { PASSWORD } from "../server";

/** What was submitted here and runs until it is stopped. */
const running: string[] = [];

// Other specs count what runs on the same cluster: it has ended before they do.
test.afterEach(async ({ request, baseURL }) => {
  for (const job of running.splice(0)) await berth.end(request, baseURL, job);
});

/** A browser of somebody whom the administrator has just made a user. */
async function newcomer(browser: Browser, admin: APIRequestContext, baseURL: string | undefined, username: string) {
  const data = { username, password: PASSWORD, temporary: false };
  const made = await admin.post("/api/v2/users", { headers: { Origin: baseURL ?? "" }, data });
  expect(made.ok(), await made.text()).toBe(true);
  return browser.newContext({ baseURL, storageState: { cookies: [], origins: [] } });
}

test("the manual's job is filled in as a form, watched, and entered in each way, by a newcomer in Chinese", async ({
  browser,
  request,
  baseURL,
}, info) => {
  const user = "xuesheng";
  const context = await newcomer(browser, request, baseURL, user);
  const page = await context.newPage();
  const [name, code, home] = ["helloworld_lenet", info.outputPath("lenet"), info.outputPath("home")];
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, "lenet.py"), 'import os\nprint("epochs", os.environ["EPOCHS"])\n');
  const menu = await signInInChinese(page, user);
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
  await field("代码文件夹").fill(`$PAI_DEFAULT_FS_URI/${user}/lenet`);
  running.push(`${user}~${name}`);
  await submitted(page, name, user);
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
  const key = `${user}~${name}`;
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
  await context.close();
});

/** What a newcomer reads and clicks. */
const WORDS = {
  newcomer: {
    language: "English", user: "User name", password: "Password", signIn: "Sign in", first: "Submit your first job",
    name: "Name", add: "Add task role", role: "Role name", command: "Command", fits: "Fits now on quay",
    submit: /^Submit/, parts: "Parts of this job", tasks: "Tasks",
  },
  xinren: {
    language: "简体中文", user: "用户名", password: "密码", signIn: "登录", first: "提交第一个作业",
    name: "名称", add: "添加任务角色", role: "角色名称", command: "命令", fits: "现在即可在 quay 上启动",
    submit: /^提交/, parts: "作业内容", tasks: "任务",
  },
};

for (const [username, words] of Object.entries(WORDS)) {
  test(`a newcomer gets from signing in to a running job of two roles, ${words.language}`, async ({ browser, request, baseURL }) => {
    const context = await newcomer(browser, request, baseURL, username);
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
    await berth.open(page, "/");
    const kept = page.waitForResponse("**/fn/preferences/language");
    await act(page.getByRole("button", { name: words.language }).click());
    await kept;
    await act(page.getByLabel(words.user).fill(username));
    await act(page.getByLabel(words.password).fill(PASSWORD));
    await act(page.getByRole("button", { name: words.signIn }).click());
    await expect(page).toHaveURL("/");
    await expect(page.locator("body[data-alive]")).toBeAttached();
    await berth.mark(page);
    await act(page.getByRole("link", { name: words.first }).click());
    await act(page.getByLabel(words.name, { exact: true }).fill("two-roles"));
    await act(page.getByRole("button", { name: words.add }).click());
    for (const at of [0, 1]) {
      const role = page.locator("details.role").nth(at);
      await act(role.getByLabel(words.role).fill(["server", "worker"][at]));
      await act(role.getByLabel(words.command, { exact: true }).fill("sleep 600"));
    }
    await expect(page.getByText(words.fits)).toBeVisible();
    running.push(`${username}~two-roles`);
    await act(page.getByRole("button", { name: words.submit }).click());
    await expect(page).toHaveURL(`/jobs/${username}/two-roles`);
    await berth.becomes(page, "RUNNING");
    const parts = page.getByRole("navigation", { name: words.parts });
    await act(parts.getByRole("link", { name: words.tasks, exact: true }).click());
    await expect(page.locator(".table--tasks [data-state=RUNNING]")).toHaveCount(2);
    expect(acts).toBeLessThanOrEqual(20);
    await berth.expectNoReload(page);
    expect(broken).toEqual([]);
    await context.close();
  });
}

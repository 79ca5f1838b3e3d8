import { type APIRequestContext, type Locator, type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";
import { PASSWORD } from "../server";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

/** Whether narrow and wide letters take the same room in the font of an element. */
async function isMonospaced(element: Locator): Promise<boolean> {
  return element.evaluate((element) => {
    const brush = document.createElement("canvas").getContext("2d");
    if (brush === null) throw new Error("no canvas");
    const { fontSize, fontFamily } = getComputedStyle(element);
    brush.font = `${fontSize} ${fontFamily}`;
    return Math.abs(brush.measureText("iiiiiiiiii").width - brush.measureText("MMMMMMMMMM").width) < 0.5;
  });
}

async function heightOf(element: Locator): Promise<number> {
  return (await element.boundingBox())?.height ?? 0;
}

for (const [width, height] of [
  [1440, 900],
  [768, 1024],
  [360, 740],
] as const) {
  test(`the editor is the room to write in at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await berth.open(page, "/submit?way=editor");
    const editor = page.locator(".monaco-editor").first();
    await expect(editor).toBeVisible();
    await expect.poll(() => heightOf(editor)).toBeGreaterThanOrEqual(Math.max(400, height - 240));
    expect(await isMonospaced(page.locator(".monaco-editor .view-line").first())).toBe(true);
    const text = page.locator(".view-lines");
    const lines = await text.locator(".view-line").count();
    expect(lines).toBeGreaterThan(12);
    await berth.picture(page, `editor-${width}`);

    await page.getByRole("button", { name: "Full window" }).click();
    await expect.poll(() => heightOf(editor)).toBeGreaterThan(height - 80);
    const box = await editor.boundingBox();
    expect(box?.width).toBeGreaterThan(width - 40);
    await page.screenshot({ path: `test-results/pictures/editor-full-${width}.png` });
    await page.keyboard.press("Escape");
    await expect.poll(() => heightOf(editor)).toBeLessThanOrEqual(Math.max(480, height - 220));
  });
}

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the plain field is as large, and monospaced", async ({ page }) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto("/submit");
    const text = page.getByLabel("Job file, JSON or YAML");
    expect(await heightOf(text)).toBeGreaterThanOrEqual(400);
    expect(await isMonospaced(text)).toBe(true);
    await berth.picture(page, "editor-plain");
  });
});

/** Opens a page and does something before the browser's part has taken it over. */
async function openEarly(page: Page, path: string, work: () => Promise<void>) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/app_bg.*.wasm", async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(path, { waitUntil: "commit" });
  await work();
  release();
  await expect(page.locator("body[data-alive]")).toBeAttached();
  await page.unroute("**/app_bg.*.wasm");
}

test("what is typed before the page is alive stays, in every form", async ({ page }) => {
  const name = page.getByLabel("Name", { exact: true });
  await openEarly(page, "/submit", async () => {
    await name.fill("typed-early");
    await page.getByLabel("CPU cores").fill("3");
    await page.getByLabel("GPU type").selectOption("TITANX");
    await page.getByLabel("Command", { exact: true }).fill("echo early");
  });
  await expect(name).toHaveValue("typed-early");
  await expect(page.getByLabel("CPU cores")).toHaveValue("3");
  await expect(page.getByLabel("GPU type")).toHaveValue("TITANX");
  await expect(page.getByLabel("Command", { exact: true })).toHaveValue("echo early");
  const text = page.locator("textarea[name=text]");
  await expect(text).toHaveValue(/"jobName": "typed-early"[^]*"cpuNumber": 3[^]*echo early/);

  const admin = page.locator("form", { has: page.getByRole("button", { name: "Add user" }) });
  await openEarly(page, "/admin/users", async () => {
    await admin.getByLabel("Name").fill("early-bird");
    await admin.getByLabel("Administrator").check();
  });
  await expect(admin.getByLabel("Name")).toHaveValue("early-bird");
  await expect(admin.getByLabel("Administrator")).toBeChecked();
});

test.describe("signed out", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("what is typed early into the page for signing in stays", async ({ page }) => {
    const released: (() => void)[] = [];
    await page.route("**/app_bg.*.wasm", async (route) => {
      await new Promise<void>((resolve) => released.push(resolve));
      await route.continue();
    });
    await page.goto("/sign-in", { waitUntil: "commit" });
    await page.getByLabel("User name").fill("admin");
    await page.getByLabel("Password").fill("half of a pass");
    const loaded = page.waitForResponse("**/app_bg.*.wasm");
    for (const release of released) release();
    await loaded;
    // Alive is a page whose theme follows a click.
    await page.getByRole("button", { name: "Dark" }).click();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await expect(page.getByLabel("User name")).toHaveValue("admin");
    await expect(page.getByLabel("Password")).toHaveValue("half of a pass");
  });
});

/** The text that would be submitted. */
function text(page: Page): Locator {
  return page.locator("textarea[name=text]");
}

test("an unsubmitted text survives a reload and is taken back by a click", async ({ page }) => {
  await berth.open(page, "/submit");
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("of-last-time");
  await berth.open(page, "/submit");
  await expect(name).toHaveValue("of-last-time");
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(name).toHaveValue(/^hello-world/);
});

test("two tabs keep two drafts, and say when the other is newer", async ({ page, context }) => {
  const other = await context.newPage();
  const name = (of: Page) => of.getByLabel("Name", { exact: true });
  await berth.open(page, "/submit");
  await berth.open(other, "/submit");
  await name(page).fill("tab-one");
  await expect(other.getByText("Another unsubmitted text of yours is kept: tab-one.")).toBeVisible();
  await name(other).fill("tab-two");
  await expect(page.getByText("Another unsubmitted text of yours is kept: tab-two.")).toBeVisible();
  await expect(name(page)).toHaveValue("tab-one");

  await berth.open(page, "/submit");
  await expect(name(page)).toHaveValue("tab-one");
  await berth.picture(page, "two-drafts");
  await page.getByRole("button", { name: "Keep this one" }).click();
  await expect(page.getByText("Another unsubmitted text")).toBeHidden();
  await expect(name(page)).toHaveValue("tab-one");

  await berth.open(page, "/submit");
  await page.getByRole("button", { name: "Take that one" }).click();
  await expect(name(page)).toHaveValue("tab-two");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(name(page)).toHaveValue("tab-one");
  await berth.open(other, "/submit");
  await expect(name(other)).toHaveValue("tab-two");
  await other.close();
});

test("what is typed before the code for it has come is kept though one leaves at once", async ({ page }) => {
  const code = "**/pkg/part_submit_engine*";
  let comes = false;
  await page.route(code, (route) => (comes ? route.continue() : undefined));
  const name = page.getByLabel("Name", { exact: true });
  await berth.open(page, "/submit");
  const asked = page.waitForRequest(code);
  await name.fill("left-at-once");
  await asked;
  comes = true;
  await berth.open(page, "/submit");
  await expect(name).toHaveValue("left-at-once");
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(name).not.toHaveValue("left-at-once");
});

test("a draft and what is typed early into the same page both stay", async ({ page }) => {
  const name = page.getByLabel("Name", { exact: true });
  await berth.open(page, "/submit");
  await name.fill("draft-before");
  await openEarly(page, "/submit", async () => name.fill("typed-early"));
  await expect(name).toHaveValue("typed-early");
  await expect(page.getByText("Another unsubmitted text of yours is kept: draft-before.")).toBeVisible();
});

test.describe("a session that ends", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  async function signIn(page: Page) {
    await page.goto("/sign-in");
    await page.getByLabel("User name").fill("admin");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page).toHaveURL(/\/$/);
  }

  async function signInAgain(page: Page) {
    const question = page.getByRole("dialog", { name: "Sign in" });
    await expect(question).toContainText("what you began goes on");
    await expect(question.getByLabel("User name")).toHaveValue("admin");
    const password = question.getByLabel("Password");
    await expect(password).toBeFocused();
    await password.fill("wrong");
    await password.press("Enter");
    await expect(question.getByRole("alert")).toContainText("is wrong");
    await password.fill(PASSWORD);
    await berth.picture(page, "sign-in-again");
    await question.getByRole("button", { name: "Sign in" }).click();
    await expect(question).toBeHidden();
  }

  test("in the middle of a job goes on with it", async ({ page, context }) => {
    await signIn(page);
    await berth.open(page, "/submit");
    await page.getByLabel("Name", { exact: true }).fill("after-the-end");
    await berth.mark(page);
    await context.clearCookies();
    await page.getByRole("button", { name: /^Submit/ }).click();
    await signInAgain(page);
    await expect(page).toHaveURL(/\/jobs\/admin\/after-the-end$/);
    await berth.expectNoReload(page);
  });

  test("in the middle of a form of the administration goes on with it", async ({ page, context, baseURL }) => {
    await signIn(page);
    await berth.open(page, "/admin/users");
    const form = page.locator("form", { has: page.getByRole("button", { name: "Add user" }) });
    await form.getByLabel("Name").fill("late");
    await form.getByLabel("Password").fill("a password for late");
    await context.clearCookies();
    await form.getByRole("button", { name: "Add user" }).click();
    await signInAgain(page);
    await expect(page.getByRole("rowheader", { name: "late", exact: true })).toBeVisible();

    await berth.open(page, "/admin/clusters");
    await page.getByLabel("Name", { exact: true }).fill("late-cluster");
    await context.clearCookies();
    await page.getByRole("button", { name: "Save" }).click();
    await signInAgain(page);
    await expect(page.getByRole("dialog", { name: "Save late-cluster" })).toContainText("No job");
    await berth.confirm(page);
    await expect(page.getByRole("rowheader", { name: "late-cluster" })).toBeVisible();
    await forget(page.request, baseURL, "late-cluster");
  });
});

test("the form of a virtual cluster keeps what is typed while jobs come and go", async ({ page, request, baseURL }) => {
  await berth.open(page, "/admin/clusters");
  const fields = { name: "churned", cpus: "4", gpus: "TITANX=2" };
  const field = (name: string) => page.locator(`[name="cluster[${name}]"]`);
  for (const [name, value] of Object.entries(fields)) await field(name).fill(value);
  // The table above follows each of these; the form must not.
  for (const round of [1, 2, 3]) {
    const followed = page.waitForResponse((answer) => answer.url().includes("/fn/clusters/list"));
    await berth.put(request, baseURL, `churn-${round}`, "true");
    await followed;
    for (const [name, value] of Object.entries(fields)) await expect(field(name)).toHaveValue(value);
  }
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("dialog")).toContainText("Save churned");
  await berth.confirm(page);
  await expect(page.getByRole("row", { name: /churned/ })).toContainText("TITANX");
  await forget(request, baseURL, "churned");
});

test("a question about a virtual cluster stays one about it while others come and go", async ({ page, request, baseURL }) => {
  const put = async (name: string) => {
    const data = { share: { gpus: { TITANX: 1 } } };
    const made = await request.put(`/api/v2/virtual-clusters/${name}`, { headers: { Origin: baseURL ?? "" }, data });
    expect(made.ok(), await made.text()).toBe(true);
  };
  await put("asked-about");
  await berth.open(page, "/admin/clusters");
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  await row("asked-about").getByRole("button", { name: "Remove" }).click();
  const question = page.getByRole("dialog", { name: "Remove virtual cluster asked-about" });
  await expect(question).toBeVisible();
  // Rows above and below it, and one that follows each job.
  for (const name of ["aaa-first", "zzz-last"]) {
    await put(name);
    await expect(row(name)).toBeVisible();
    await expect(question).toBeVisible();
  }
  const followed = page.waitForResponse((answer) => answer.url().includes("/fn/clusters/list"));
  await berth.put(request, baseURL, "passes-by", "true");
  await followed;
  await question.getByRole("button", { name: "Remove virtual cluster asked-about" }).click();
  await expect(question).toBeHidden();
  await expect(row("asked-about")).toHaveCount(0);
  for (const name of ["aaa-first", "zzz-last"]) {
    await expect(row(name)).toBeVisible();
    await forget(request, baseURL, name);
  }
});

test("a user is removed only by who types the name", async ({ page, request, baseURL }) => {
  const data = { username: "leaves.soon", password: "a password for leaving" };
  const made = await request.post("/api/v2/users", { headers: { Origin: baseURL ?? "" }, data });
  expect(made.ok(), await made.text()).toBe(true);
  await berth.open(page, "/admin/users");
  const row = page.getByRole("row", { name: /leaves\.soon/ });
  const question = page.getByRole("dialog", { name: "Remove user leaves.soon" });
  const remove = question.getByRole("button", { name: "Remove user leaves.soon" });
  const field = question.getByRole("textbox", { name: "Type leaves.soon to go on" });
  await row.getByRole("button", { name: "Remove" }).click();
  for (const typed of ["", "leaves-soon", "Leaves.soon"]) {
    await field.fill(typed);
    await remove.click();
    expect(await field.evaluate((field: HTMLInputElement) => field.validity.valid), typed).toBe(false);
  }
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(question).toBeHidden();
  expect((await request.get("/api/v2/users/leaves.soon")).ok()).toBe(true);
  await row.getByRole("button", { name: "Remove" }).click();
  await expect(field, "what was typed before").toHaveValue("");
  await field.fill("leaves.soon");
  await berth.picture(page, "remove-user");
  await remove.click();
  await expect(question).toBeHidden();
  await expect(row).toHaveCount(0);
});

test("limits of users and groups are set in the form of a virtual cluster", async ({ page, request, baseURL }) => {
  await berth.open(page, "/admin/clusters");
  const field = (name: string) => page.locator(`[name="cluster[${name}]"]`);
  await field("name").fill("limited");
  await expect(field("user_gpus")).toBeHidden();
  await page.getByText("Limits of users and groups").click();
  await field("user_gpus").fill("8");
  await field("group_waiting").fill("100");
  const own = (row: number, name: string) => page.locator(`[name="cluster[named][n${row}][${name}]"]`);
  await own(0, "name").fill("admin");
  await own(0, "gpus").fill("16");
  await page.getByRole("button", { name: "Add a user or group" }).click();
  await own(1, "of_group").selectOption("Group");
  await own(1, "name").fill("vision");
  await own(1, "jobs").fill("3");
  const save = async () => {
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("dialog")).toContainText("Save limited");
    await berth.confirm(page);
  };
  const limits = async () => {
    const shown = await request.get("/api/v2/virtual-clusters/limited");
    return (await shown.json()).limits;
  };
  await save();
  await expect(page.getByRole("rowheader", { name: "limited" })).toBeVisible();
  const stored = await limits();
  expect(stored.user.running_gpus).toBe(8);
  expect(stored.group.waiting_jobs).toBe(100);
  expect(stored.users.admin.running_gpus).toBe(16);
  expect(stored.groups.vision.running_jobs).toBe(3);
  await berth.open(page, "/admin/clusters?edit=limited");
  const known = (key: string) => page.locator(`[name="cluster[named][${key}][name]"]`);
  await expect(known("for-user-admin")).toHaveValue("admin");
  await expect(known("for-group-vision")).toHaveValue("vision");
  await page.getByRole("button", { name: "Remove the row" }).first().click();
  await expect(known("for-user-admin")).toHaveCount(0);
  await save();
  await expect.poll(async () => (await limits()).users).toEqual({});
  expect((await limits()).groups.vision.running_jobs).toBe(3);
  await forget(request, baseURL, "limited");
});

test("which classes take the places of lower ones is chosen in the form of a virtual cluster", async ({
  page,
  request,
  baseURL,
}) => {
  await berth.open(page, "/admin/clusters");
  const preempts = page.getByLabel("Classes that take the places of lower ones");
  await expect(preempts).toHaveValue("true");
  await page.locator('[name="cluster[name]"]').fill("classes");
  await preempts.selectOption("Only critical (crit)");
  const stored = async () => (await (await request.get("/api/v2/virtual-clusters/classes")).json()).preempts;
  const save = async () => {
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("dialog")).toContainText("Save classes");
    await berth.confirm(page);
  };
  await save();
  await expect.poll(stored).toEqual(["crit"]);
  await berth.open(page, "/admin/clusters?edit=classes");
  await expect(preempts).toHaveValue("crit");
  await preempts.selectOption("None");
  await save();
  await expect.poll(stored).toBe(false);
  await forget(request, baseURL, "classes");
});

test("groups that share a virtual cluster are named with their weights in its form", async ({
  page,
  request,
  baseURL,
}) => {
  await berth.open(page, "/admin/clusters");
  const shares = page.getByLabel("Groups that share it");
  await page.locator('[name="cluster[name]"]').fill("sharing");
  await shares.fill("vision=2, gpu users=1");
  const stored = async () => (await (await request.get("/api/v2/virtual-clusters/sharing")).json()).group_shares;
  const save = async () => {
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("dialog")).toContainText("Save sharing");
    await berth.confirm(page);
  };
  await save();
  await expect.poll(stored).toEqual({ "gpu users": 1, vision: 2 });
  await berth.open(page, "/admin/clusters?edit=sharing");
  await expect(shares).toHaveValue("gpu users=1, vision=2");
  await shares.fill("");
  await save();
  await expect.poll(stored).toBeUndefined();
  await forget(request, baseURL, "sharing");
});

test("guarantees beyond what there is are said beside their field and before they are saved", async ({
  page,
  request,
  baseURL,
}) => {
  await berth.open(page, "/admin/clusters");
  const field = (name: string) => page.locator(`[name="cluster[${name}]"]`);
  const promised = page.getByRole("list", { name: "Guaranteed of what there is" });
  await field("name").fill("speech");
  await field("gpus").fill("TITANX=500");
  await expect(promised).toContainText("TITANX: promised 500 of 10, more than there is");
  await field("gpus").fill("TITANX=3");
  await expect(promised).toContainText("TITANX: promised 3 of 10");
  await expect(promised).not.toContainText("more than there is");
  await field("gpus").fill("TITANX=500");
  await expect(promised).toContainText("more than there is");
  await berth.picture(page, "promised");
  await page.getByRole("button", { name: "Save" }).click();
  const beyond = "More is guaranteed than there is: TITANX: promised 500 of 10";
  await expect(page.getByRole("dialog")).toContainText(beyond);
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();

  const answer = await request.put("/api/v2/virtual-clusters/speech", {
    headers: { Origin: baseURL ?? "" },
    data: { share: { gpus: { TITANX: 500 } } },
  });
  expect(await answer.text()).toContain(beyond);
  await forget(request, baseURL, "speech");
});

async function forget(request: APIRequestContext, baseURL: string | undefined, cluster: string) {
  const answer = await request.post("/fn/clusters/remove", {
    headers: { Origin: baseURL ?? "", Accept: "application/json" },
    form: { name: cluster },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
}

test("thousands of pasted lines make no thousands of fields", async ({ page }) => {
  const lines = Array.from({ length: 5000 }, (_, number) => `      - echo line ${number}`);
  const job = [
    "protocolVersion: 2",
    "name: five-thousand",
    "type: job",
    "prerequisites:",
    "  - name: image",
    "    type: dockerimage",
    "    uri: berth/base:latest",
    "taskRoles:",
    "  worker:",
    "    instances: 1",
    "    dockerImage: image",
    "    resourcePerInstance: {cpu: 1, memoryMB: 256, gpu: 0}",
    "    commands:",
    ...lines,
    "",
  ].join("\n");
  await berth.open(page, "/submit?way=editor");
  const fields = page.locator(".job-form").getByRole("textbox", { includeHidden: true });
  const before = await fields.count();
  await berth.paste(page, job);
  await expect(text(page)).toHaveValue(job);
  await expect(page.getByText(/^Fits now/)).toBeVisible();
  // Nobody looks at the form: it is as it was.
  expect(await fields.count()).toBe(before);
  await berth.write(page, "Form");
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("five-thousand");
  await expect(page.getByText(/^4.960 more are in the editor only/)).toBeVisible();
  expect(await fields.count()).toBeLessThan(100);
  await page.getByLabel("Name", { exact: true }).fill("five-thousand-lines");
  await expect(text(page)).toHaveValue(job.replace("five-thousand", "five-thousand-lines"));
});

test("a text that cannot be read is one message and the way to its line", async ({ page }) => {
  await berth.open(page, "/submit?way=editor");
  await berth.paste(page, '{\n  "jobName": "broken",\n  "image" "a"\n}');
  await expect(page.getByRole("heading", { name: /1 problem/ })).toBeVisible();
  await berth.write(page, "Form");
  const alert = page.locator(".submit__main").getByRole("alert");
  await expect(alert).toHaveCount(1);
  await expect(alert).toContainText("line 3");
  await expect(page.locator(".field__problem").filter({ visible: true })).toHaveCount(0);
  await expect(page.locator(".job-form")).toBeHidden();
  await berth.picture(page, "unreadable");
  await alert.getByRole("button", { name: "Go to the line in the editor" }).click();
  await expect(page.locator(".monaco-editor").first()).toBeVisible();
  await expect(page).toHaveURL(/way=editor/);
});

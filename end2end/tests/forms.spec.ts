import { type Locator, type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";

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
  const alive = page.waitForRequest((request) => request.url().endsWith("/api/events"));
  await page.goto(path, { waitUntil: "commit" });
  await work();
  release();
  await alive;
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

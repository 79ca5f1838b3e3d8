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

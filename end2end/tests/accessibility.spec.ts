// No barrier on any page of a cluster in use: not at any width, in neither theme, in neither language. This
// is all of them, and the README says how they are asked for; what `everywhere.spec.ts` sees is always looked at.
import type { Page } from "@playwright/test";
import { WIDTHS, barriers } from "../barriers";
import { type Look, atEach, browsers, everywhere, jobs, looking, opened } from "../everywhere";
import { expect, test } from "../seeded";

test.use({ trace: "off" });

const LOOKS: Look[] = WIDTHS.flatMap((width) =>
  (["en", "zh"] as const).flatMap((language) =>
    (["light", "dark"] as const).map((theme) => ({ width, language, theme })),
  ),
);

/** What opens over a page: where, by what it is opened, in either language. */
const OPENED: [string, (page: Page) => Promise<void>][] = [
  ["/", (page) => page.keyboard.press("Control+k")],
  ["/", (page) => page.keyboard.press("?")],
  ["/jobs?all=1", (page) => page.getByRole("button", { name: /^(Save this view|保存此视图)/ }).click()],
  ["job", (page) => page.getByRole("button", { name: /^(Stop|停止)$/ }).click()],
  ["/nodes/sim-v100-01", (page) => page.getByRole("button", { name: /^(Drain|排空)$/ }).click()],
];

for (const look of LOOKS) {
  const { width, language, theme } = look;
  test(`no barrier at ${width} px, ${language}, ${theme}`, { tag: "@every" }, async ({ browser, cluster }) => {
    test.setTimeout(300_000);
    const who = await browsers(browser, cluster, look);
    const found = await atEach(await everywhere(cluster), async (path) => {
      const page = await opened(who.at(path), look, path);
      const found = await barriers(page, path, look);
      await page.close();
      return found;
    });
    expect(found).toEqual([]);
    await who.close();
  });

  test(`no barrier in what opens at ${width} px, ${language}, ${theme}`, { tag: "@every" }, async ({ browser, cluster }) => {
    const context = await looking(browser, cluster, look);
    const [running] = await jobs(cluster, "RUNNING", 1);
    for (const [path, open] of OPENED) {
      const page = await opened(context, look, path === "job" ? running : path);
      await open(page);
      await expect(page.locator("dialog[open]")).toBeVisible();
      expect(await barriers(page, `${path}, opened`, look)).toEqual([]);
      await page.close();
    }
    await context.close();
  });
}

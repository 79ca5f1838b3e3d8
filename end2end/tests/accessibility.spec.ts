// No barrier on any page of a cluster in use: not at any width, in neither theme, in neither language.
import AxeBuilder from "@axe-core/playwright";
import type { BrowserContext } from "@playwright/test";
import { type Look, atEach, everywhere, looking } from "../everywhere";
import * as berth from "../pages";
import { expect, test } from "../seeded";

const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const WIDTHS = [360, 768, 1440];

/** Of each width. Over the three each page is seen in both themes and both languages. */
const ALTERNATELY: Look[][] = [
  [{ width: 360, language: "zh", theme: "dark" }],
  [{ width: 768, language: "en", theme: "light" }],
  [
    { width: 1440, language: "en", theme: "dark" },
    { width: 1440, language: "zh", theme: "light" },
  ],
];

/** What axe finds on a page. Monaco is not ours. */
async function barriers(context: BrowserContext, look: Look, path: string) {
  const page = await context.newPage();
  await berth.open(page, path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", look.language === "en" ? "en" : "zh-CN");
  await expect(page.locator("html")).toHaveAttribute("data-theme", look.theme);
  const axe = new AxeBuilder({ page }).withTags(STANDARDS).exclude(".monaco-editor");
  const { violations } = await axe.analyze();
  await page.close();
  return violations.map(({ id, nodes }) => ({
    path,
    look: `${look.width} ${look.language} ${look.theme}`,
    id,
    where: nodes.slice(0, 5).map(({ html }) => html.slice(0, 200)),
  }));
}

for (const looks of ALTERNATELY) {
  test(`no barrier on any page at ${looks[0].width} px`, async ({ browser, cluster }) => {
    test.setTimeout(300_000);
    const contexts = await Promise.all(looks.map((look) => looking(browser, cluster, look)));
    const found = await atEach(await everywhere(cluster), (path, number) => {
      const which = number % looks.length;
      return barriers(contexts[which], looks[which], path);
    });
    expect(found).toEqual([]);
    await Promise.all(contexts.map((context) => context.close()));
  });
}

// All of them: the README says how they are asked for.
for (const width of WIDTHS) {
  for (const language of ["en", "zh"] as const) {
    for (const theme of ["light", "dark"] as const) {
      const look: Look = { width, language, theme };
      test(`no barrier at ${width} px, ${language}, ${theme}`, { tag: "@every" }, async ({ browser, cluster }) => {
        test.setTimeout(300_000);
        const context = await looking(browser, cluster, look);
        const found = await atEach(await everywhere(cluster), (path) => barriers(context, look, path));
        expect(found).toEqual([]);
        await context.close();
      });
    }
  }
}

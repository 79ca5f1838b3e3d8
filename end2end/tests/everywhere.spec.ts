// Each page of a cluster in use, loaded once in each language: all that it says, by eye or by ear, is in that
// language, and nothing on it is in anybody's way.
import { WIDTHS, barriers } from "../barriers";
import { type Look, atEach, everywhere, further, looking, opened } from "../everywhere";
import { expect, test } from "../seeded";
import { isChinese, isEnglish, said } from "../words";

// So many pages are no story that a trace would tell.
test.use({ trace: "off" });

/**
 * How a page is looked at in a language. In the two together each page is seen at each width and in both
 * themes; over all pages each width is seen with each theme in each language.
 */
function looks(number: number, language: Look["language"]): Look[] {
  const first = language === "zh";
  const theme = (number % 2 === 0) === first ? "dark" : "light";
  const alone = WIDTHS[Math.floor(number / 2) % WIDTHS.length];
  const hasOne = (Math.floor(number / 6) % 2 === 0) === first;
  const widths = hasOne ? [alone] : WIDTHS.filter((width) => width !== alone);
  return widths.map((width) => ({ width, language, theme }));
}

test("over all pages each width meets each theme in each language", async ({ cluster }) => {
  const pages = await everywhere(cluster);
  const met = new Set<string>();
  for (const number of pages.keys()) {
    const both = [...looks(number, "zh"), ...looks(number, "en")];
    expect(both.map(({ width }) => width).sort((one, other) => one - other)).toEqual(WIDTHS);
    expect(new Set(both.map(({ theme }) => theme)).size).toBe(2);
    expect(new Set(both.map(({ language }) => language)).size).toBe(2);
    for (const { width, language, theme } of both) met.add(`${width} ${language} ${theme}`);
  }
  expect(met.size).toBe(WIDTHS.length * 4);
});

for (const [language, title, isForeign] of [
  ["zh", "no English sentence on a Chinese page, and no barrier", isEnglish],
  ["en", "nothing Chinese on an English page, and no barrier", isChinese],
] as const) {
  test(title, async ({ browser, cluster }) => {
    test.setTimeout(480_000);
    const context = (theme: Look["theme"]) => looking(browser, cluster, { width: 1440, language, theme });
    const contexts = { light: await context("light"), dark: await context("dark") };
    const found = await atEach(await everywhere(cluster), async (path, number) => {
      const all = looks(number, language);
      const page = await opened(contexts[all[0].theme], all[0], path);
      const found: object[] = (await said(page)).filter(isForeign).map((text) => ({ path, text }));
      for (const look of all) {
        await page.setViewportSize({ width: look.width, height: 900 });
        found.push(...(await barriers(page, path, look)));
      }
      await page.close();
      return found;
    });
    const foreign = await atEach(await further(cluster), async (path) => {
      const page = await opened(contexts.light, { width: 1440, language, theme: "light" }, path);
      const texts = (await said(page)).filter(isForeign);
      await page.close();
      return texts.map((text) => ({ path, text }));
    });
    expect([...found, ...foreign]).toEqual([]);
    await contexts.light.close();
    await contexts.dark.close();
  });
}

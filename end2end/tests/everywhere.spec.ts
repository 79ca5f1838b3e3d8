// Each page of a cluster in use, loaded once in each language: all that it says, by eye or by ear, is in that
// language, and nothing on it is in anybody's way.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { WIDTHS, barriers, sideways } from "../barriers";
import { type Look, atEach, browsers, everywhere, further, opened } from "../everywhere";
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

/** The words of a source file that a pattern finds. */
function words(file: string, pattern: RegExp): string[] {
  const found = [...readFileSync(resolve("../app", file), "utf8").matchAll(pattern)].map(([, word]) => word);
  expect(found.length, `${file} names some`).toBeGreaterThan(4);
  return found;
}

test("no page, no part of a job and no section of the administration is left out", async ({ cluster }) => {
  const pages = (await everywhere(cluster)).map((address) => address.replace(/\?.*$/, ""));
  const part = (name: string) => (name.endsWith("?") ? "(/[^/]+)?" : "/[^/]+");
  for (const route of words("routes.rs", /path!\("([^"]+)"\)/g)) {
    const address = new RegExp(`^${route.replace(/\/:(\w+\??)/g, (_, name) => part(name))}$`);
    expect(pages.filter((page) => address.test(page)), route).not.toEqual([]);
  }
  for (const tab of words("pages/job/tab.rs", /Tab::\w+ => "(\w+)"/g)) {
    const address = new RegExp(tab === "overview" ? "^/jobs/[^/]+/[^/]+$" : `^/jobs/[^/]+/[^/]+/${tab}$`);
    expect(pages.filter((page) => address.test(page)), tab).not.toEqual([]);
  }
  for (const section of words("pages/admin.rs", /Section::\w+ => "(\w+)"/g)) {
    expect(pages, section).toContain(section === "users" ? "/admin" : `/admin/${section}`);
  }
});

for (const [language, title, isForeign] of [
  ["zh", "no English sentence on a Chinese page, and no barrier", isEnglish],
  ["en", "nothing Chinese on an English page, and no barrier", isChinese],
] as const) {
  test(title, async ({ browser, cluster }) => {
    test.setTimeout(480_000);
    const looking = (theme: Look["theme"]) => browsers(browser, cluster, { width: 1440, language, theme });
    const who = { light: await looking("light"), dark: await looking("dark") };
    // A cluster may be cut off from the world: no page asks for anything of another place.
    const elsewhere = new Set<string>();
    for (const context of [who.light, who.dark].flatMap(({ all }) => all)) {
      context.on("request", (request) => {
        const { protocol, origin } = new URL(request.url());
        if (protocol.startsWith("http") && origin !== cluster.url) elsewhere.add(request.url());
      });
    }
    const found = await atEach(await everywhere(cluster), async (path, number) => {
      const all = looks(number, language);
      const page = await opened(who[all[0].theme].at(path), all[0], path);
      const found: object[] = (await said(page)).filter(isForeign).map((text) => ({ path, text }));
      for (const look of all) {
        await page.setViewportSize({ width: look.width, height: 900 });
        found.push(...(await barriers(page, path, look)));
      }
      // The narrowest window and the widest; the others are those above.
      for (const width of [320, 2560]) {
        const by = await sideways(page, width);
        if (by > 0) found.push({ path, width, language, wider: by });
      }
      await page.close();
      return found;
    });
    const foreign = await atEach(await further(cluster), async (path) => {
      const page = await opened(who.light.at(path), { width: 1440, language, theme: "light" }, path);
      const texts = (await said(page)).filter(isForeign);
      await page.close();
      return texts.map((text) => ({ path, text }));
    });
    expect([...found, ...foreign]).toEqual([]);
    expect([...elsewhere]).toEqual([]);
    await who.light.close();
    await who.dark.close();
  });
}

// No barrier on any page of a cluster in use: not at any width, in neither theme, in neither language. This
// is all of them, and the README says how they are asked for; what `everywhere.spec.ts` sees is always looked at.
import { WIDTHS, barriers } from "../barriers";
import { type Look, atEach, everywhere, looking, opened } from "../everywhere";
import { expect, test } from "../seeded";

test.use({ trace: "off" });

for (const width of WIDTHS) {
  for (const language of ["en", "zh"] as const) {
    for (const theme of ["light", "dark"] as const) {
      const look: Look = { width, language, theme };
      test(`no barrier at ${width} px, ${language}, ${theme}`, { tag: "@every" }, async ({ browser, cluster }) => {
        test.setTimeout(300_000);
        const context = await looking(browser, cluster, look);
        const found = await atEach(await everywhere(cluster), async (path) => {
          const page = await opened(context, look, path);
          const found = await barriers(page, path, look);
          await page.close();
          return found;
        });
        expect(found).toEqual([]);
        await context.close();
      });
    }
  }
}

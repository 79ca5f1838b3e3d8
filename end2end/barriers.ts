// What on a page is in somebody's way, by axe.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import type { Look } from "./everywhere";

const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export const WIDTHS = [360, 768, 1440];

/** By how much a page is wider than its window, once it has been drawn as wide as that is. */
export async function sideways(page: Page, width: number): Promise<number> {
  await page.setViewportSize({ width, height: 900 });
  return page.evaluate(async () => {
    const drawn = () => new Promise((drawn) => requestAnimationFrame(drawn));
    await drawn();
    await drawn();
    return document.documentElement.scrollWidth - document.documentElement.clientWidth;
  });
}

/** What axe finds on a page as it is. Monaco is not ours, nor is what shows the API reference. */
export async function barriers(page: Page, path: string, { width, language, theme }: Look) {
  // Our pages have no frames: it is all done in the page itself, and what is in order is not described,
  // which takes longer than to find it.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode(true);
  const { violations } = await axe.withTags(STANDARDS).exclude(".monaco-editor").exclude(".reference").analyze();
  // The reference's own program brings a main part of its own.
  const ours = violations.filter(({ id }) => path !== "/reference" || id !== "landmark-no-duplicate-main");
  return ours.map(({ id, nodes }) => ({
    path,
    look: `${width} ${language} ${theme}`,
    id,
    where: nodes.slice(0, 5).map(({ html }) => html.slice(0, 200)),
  }));
}

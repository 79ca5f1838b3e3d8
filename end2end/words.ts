// What a page says, and in which language.
import type { Locator, Page } from "@playwright/test";

/** What the API reference shows of its document, whose names and descriptions are English. */
const DOCUMENT =
  ".info .main, .info .description, .opblock-tag .nostyle, .opblock-summary-control, .opblock-control-arrow, option, " +
  "div.parameter__name, .parameter__type, .parameter__in, td input, " +
  ".renderedMarkdown:not(.parameter__enum, .parameter__default, .live-responses-table *), " +
  ".json-schema-2020-12__title, .json-schema-2020-12__attribute--primary, .json-schema-2020-12__constraint";

/** What is no sentence of ours in either language: names, code, what programs wrote. */
const NOT_OURS =
  "script, style, template, noscript, code, pre, samp, kbd, textarea, svg, .log, .xterm, .monaco-editor, " +
  `[translate=no]:not(.reference), .reference :is(${DOCUMENT})`;

/** Three Latin words one after the other are a sentence. */
const SENTENCE = /(?:^|[^\w./@:~-])[A-Za-z][a-z']+(?:[ ,]+[A-Za-z][a-z']*){2,}/;
const HAN = /\p{Script=Han}/u;

export const isEnglish = (text: string) => SENTENCE.test(text);
export const isChinese = (text: string) => HAN.test(text) && text !== "简体中文";

/** All that a page says, by eye or by ear. */
export async function said(page: Page): Promise<string[]> {
  return [await page.title(), ...(await saidIn(page.locator("body")))];
}

/** All that a part of it says. */
export async function saidIn(part: Locator): Promise<string[]> {
  return part.evaluate((part, notOurs) => {
    const texts = new Set<string>();
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.replace(/\s+/g, " ").trim();
      if (text && !node.parentElement?.closest(notOurs)) texts.add(text);
    }
    const attributes = ["aria-label", "title", "placeholder", "alt"];
    for (const element of part.querySelectorAll(attributes.map((name) => `[${name}]`).join())) {
      if (element.closest(notOurs)) continue;
      for (const name of attributes) {
        const text = element.getAttribute(name)?.trim();
        if (text) texts.add(text);
      }
    }
    return [...texts];
  }, NOT_OURS);
}

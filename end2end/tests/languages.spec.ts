// Each page in one language, all of it: what is read and what a screen reader says.
import type { BrowserContext, Page } from "@playwright/test";
import { atEach, everywhere, jobs, looking } from "../everywhere";
import * as berth from "../pages";
import { type Cluster, expect, test } from "../seeded";

/** What is no sentence of ours in either language: names, code, what programs wrote. */
const NOT_OURS =
  "script, style, template, noscript, code, pre, samp, kbd, textarea, svg, .log, .xterm, .monaco-editor, [translate=no]";

/** Three Latin words one after the other are a sentence. */
const SENTENCE = /(?:^|[^\w./@:~-])[A-Za-z][a-z']+(?:[ ,]+[A-Za-z][a-z']*){2,}/;
const HAN = /\p{Script=Han}/u;

const isEnglish = (text: string) => SENTENCE.test(text);
const isChinese = (text: string) => HAN.test(text) && text !== "简体中文";

/** All that a page says, by eye or by ear. */
async function said(page: Page): Promise<string[]> {
  return page.evaluate((notOurs) => {
    const texts = new Set<string>([document.title]);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.replace(/\s+/g, " ").trim();
      if (text && !node.parentElement?.closest(notOurs)) texts.add(text);
    }
    const attributes = ["aria-label", "title", "placeholder", "alt"];
    for (const element of document.querySelectorAll(attributes.map((name) => `[${name}]`).join())) {
      if (element.closest(notOurs)) continue;
      for (const name of attributes) {
        const text = element.getAttribute(name)?.trim();
        if (text) texts.add(text);
      }
    }
    return [...texts];
  }, NOT_OURS);
}

/** The foreign texts of a page. */
async function foreign(context: BrowserContext, path: string, isForeign: (text: string) => boolean) {
  const page = await context.newPage();
  await berth.open(page, path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const texts = (await said(page)).filter(isForeign);
  await page.close();
  return texts.map((text) => ({ path, text }));
}

/** All pages, and further jobs: they wait for different reasons and have ended in different ways. */
async function pages(cluster: Cluster): Promise<string[]> {
  const [waiting, failed, [stopped]] = await Promise.all([
    jobs(cluster, "WAITING", 6),
    jobs(cluster, "FAILED", 8),
    jobs(cluster, "STOPPED", 1),
  ]);
  const events = [failed[0], failed[1], stopped].map((job) => `${job}/events`);
  const further = [...waiting.slice(1), ...failed.slice(1), stopped, ...events];
  return [...(await everywhere(cluster)), ...further, "/nodes/sim-titanx-16"];
}

for (const [language, title, isForeign] of [
  ["zh", "no English sentence on a Chinese page", isEnglish],
  ["en", "nothing Chinese on an English page", isChinese],
] as const) {
  test(title, async ({ browser, cluster }) => {
    test.setTimeout(180_000);
    const context = await looking(browser, cluster, { width: 1440, language, theme: "light" });
    const found = await atEach(await pages(cluster), (path) => foreign(context, path, isForeign));
    expect(found).toEqual([]);
    await context.close();
  });
}

test("a page that is open changes its language, all of it", async ({ page, cluster }) => {
  const [waiting] = await jobs(cluster, "WAITING", 1);
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(request.url()));
  const ofChinese = () => fetched.splice(0).filter((address) => /\/part_chinese_texts_\d/.test(address));
  for (const path of [waiting, "/nodes", "/submit"]) {
    await page.context().addCookies([{ name: "berth_language", value: "en", url: cluster.url }]);
    await berth.open(page, path);
    await berth.mark(page);
    expect(ofChinese(), "an English page is without Chinese texts").toEqual([]);
    await page.getByRole("button", { name: "简体中文" }).click();
    await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
    await expect.poll(async () => (await said(page)).filter(isEnglish), { message: path }).toEqual([]);
    await berth.expectNoReload(page);
    expect(ofChinese()).toHaveLength(1);
  }
});

test("what is refused is said in the reader's language, on the page and by REST", async ({ page, request, cluster }) => {
  await page.context().addCookies([{ name: "berth_language", value: "zh", url: cluster.url }]);
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(request.url()));
  await berth.open(page, "/admin");
  const others = /\/part_(english_texts|chinese_texts_said)_/;
  expect(fetched.filter((address) => others.test(address)), "nothing is loaded that is not read").toEqual([]);
  const form = page.getByRole("region", { name: "添加用户" });
  await form.locator("input[name=name]").fill("demo-ada");
  await form.locator("input[name=password]").fill("a quay for tests");
  await form.getByRole("button", { name: "添加用户" }).click();
  await expect(form.getByRole("alert")).toContainText("用户 demo-ada 已存在");
  const answer = await request.get("/api/v2/nodes/none", { headers: { "Accept-Language": "zh-CN" } });
  expect(await answer.json()).toMatchObject({ code: "NoNodeError", message: "没有节点 none" });
});

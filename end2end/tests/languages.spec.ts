// A page's language: it is changed in place, and what is refused is said in it. That each page is whole in
// its language `everywhere.spec.ts` looks at.
import { jobs } from "../everywhere";
import * as berth from "../pages";
import { expect, test } from "../seeded";
import { isEnglish, said } from "../words";

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

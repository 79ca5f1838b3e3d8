import { expect, test } from "@playwright/test";
import * as harbour from "../harbour";
import * as berth from "../pages";
import { PASSWORD } from "../server";

let own: harbour.Harbour;
test.beforeAll(async () => {
  own = await harbour.open();
});
test.afterAll(async () => own.close());

// Each test is signed in there, by a browser of its own.
const signedIn = test.extend({
  context: async ({ browser }, use) => {
    const context = await browser.newContext({
      baseURL: own.url,
      storageState: { cookies: [], origins: [] },
    });
    const data = { username: "admin", password: PASSWORD };
    const headers = { Origin: own.url };
    expect((await context.request.post("/auth/sign-in", { headers, data })).ok()).toBe(true);
    await use(context);
    await context.close();
  },
  page: async ({ context }, use) => use(await context.newPage()),
  request: async ({ context }, use) => use(context.request),
});

const address = (name: string, what: harbour.JobRequest) =>
  `/submit?text=${encodeURIComponent(JSON.stringify(harbour.job(name, what)))}`;

signedIn("what is free is said alike on all pages, and a dry run finds just that", async ({ page, request }) => {
  await harbour.put(request, "holds", { cluster: "vision", type: "A100", gpus: 3 });
  await harbour.put(request, "much", { cluster: "default", type: "A100", gpus: 7 });
  for (const name of ["holds", "much"]) await harbour.until(request, name, "RUNNING");
  const free = async (cluster: string) =>
    (await (await request.get(`/api/v2/virtual-clusters/${cluster}`)).json()).free;
  expect(await free("vision")).toEqual({ A100: { gpus: 6, on_one_node: 5, borrowed: 1 } });
  expect(await free("default")).toEqual({
    A100: { gpus: 6, on_one_node: 5, borrowed: 5 },
    V100: { gpus: 4, on_one_node: 4, borrowed: 0 },
  });

  const words = "6 free now · largest on one node 5 · 1 of them borrowed";
  for (const path of ["/", "/submit", "/clusters"]) {
    await berth.open(page, path);
    const card = page.locator("section, .free, .availability").filter({
      has: page.getByRole("heading", { name: "vision", exact: true }),
    });
    await expect(card.last().locator("[data-gpu-type=A100]")).toContainText(words);
    await expect(page.getByText("4 free now · largest on one node 4").first()).toBeVisible();
    await berth.picture(page, `free-${path.slice(1)}`);
  }
  const verdict = page.locator(".verdict__line");
  for (const [tasks, gpus, said] of [
    [6, 1, "Fits now"],
    [7, 1, "Would wait"],
    [1, 5, "Fits now"],
    [1, 6, "Would wait"],
  ] as const) {
    await berth.open(page, address("asks", { cluster: "vision", type: "A100", tasks, gpus }));
    await expect(verdict).toContainText(said);
  }
  await harbour.end(request, "holds");
  await berth.open(page, "/");
  await expect(page.getByText("9 free now · largest on one node 8 · 8 of them borrowed").first()).toBeVisible();
  await harbour.end(request, "much");
  await expect(page.getByText("8 free now · largest on one node 8", { exact: true })).toBeVisible();
});

signedIn("a running job says nothing of what befell an earlier attempt but on its overview", async ({ page, request }) => {
  await harbour.put(request, "borrows", { cluster: "lab", type: "V100", gpus: 4, priority: "oppo" });
  await harbour.until(request, "borrows", "RUNNING");
  await harbour.put(request, "takes-back", { cluster: "default", type: "V100", gpus: 4, priority: "prod" });
  await harbour.until(request, "takes-back", "RUNNING");
  await harbour.end(request, "takes-back");
  await harbour.until(request, "borrows", "RUNNING");
  const misfortune = "Its place was needed";
  await berth.open(page, "/jobs?q=state%3Arunning&all=1");
  await expect(page.getByRole("row", { name: /borrows/ })).not.toContainText(misfortune);
  await berth.open(page, "/jobs/admin/borrows");
  await berth.becomes(page, "RUNNING");
  await expect(page.locator(".job-head")).not.toContainText(misfortune);
  const past = page.getByRole("region", { name: /^Attempt 1 ended/ });
  await expect(past).toContainText(misfortune);
  await expect(page.getByText(misfortune)).toHaveCount(1);
  await berth.picture(page, "misfortune");
  await harbour.end(request, "borrows");
});

signedIn("a waiting job says its place in its cluster, what there is, and who holds it", async ({ page, request }) => {
  await harbour.put(request, "holds-2", { cluster: "vision", type: "A100", gpus: 3 });
  await harbour.put(request, "much-2", { cluster: "default", type: "A100", gpus: 7 });
  for (const name of ["holds-2", "much-2"]) await harbour.until(request, name, "RUNNING");
  await harbour.put(request, "wide", { cluster: "vision", type: "A100", gpus: 8 });
  await harbour.put(request, "broad", { cluster: "default", type: "A100", gpus: 8 });
  await harbour.put(request, "second", { cluster: "default", type: "A100", gpus: 8 });
  await berth.open(page, "/jobs?q=state%3Awaiting&all=1");
  await expect(page.getByRole("row", { name: /wide/ })).toContainText("#1 in vision");
  await expect(page.getByRole("row", { name: /broad/ })).toContainText("#1 in default");
  await expect(page.getByRole("row", { name: /second/ })).toContainText("#2 in default");
  await expect(page.getByRole("row", { name: /wide/ }).locator(".table__sub").first()).toContainText("admin · ");
  await berth.picture(page, "waiting-list");

  await berth.open(page, "/jobs/admin/second");
  const panel = page.getByRole("region", { name: "Why is it waiting?" });
  const reason = (await panel.locator(".why__reason").textContent()) ?? "";
  expect(reason.length).toBeGreaterThan(10);
  await expect(page.getByText(reason, { exact: true })).toHaveCount(1);
  const row = panel.getByRole("row", { name: /A100/ });
  await expect(row).toContainText("1 × 8");
  const vc = await (await request.get("/api/v2/virtual-clusters/default")).json();
  await expect(row.getByRole("cell").nth(1)).toContainText(String(vc.free.A100.gpus));
  await expect(row.getByRole("cell").nth(2)).toHaveText(String(vc.free.A100.on_one_node));
  await expect(panel.locator("dl")).toContainText("admin 1 job, 7 GPUs");
  await expect(panel.locator("dl")).toContainText("admin~broad");
  await berth.picture(page, "waiting-panel");
  await page.setViewportSize({ width: 320, height: 700 });
  const sideways = () => page.evaluate(() => document.querySelector(".why")!.scrollWidth);
  expect(await sideways()).toBeLessThanOrEqual(320);
  await berth.picture(page, "waiting-panel-320");
  for (const name of ["second", "broad", "wide", "much-2", "holds-2"]) await harbour.end(request, name);
});

signedIn("a start is a range as soon as anything like it has waited", async ({ page, request }) => {
  // The last one stays, so that whoever is looked at behind it still waits, however slow the browser is.
  for (let n = 1; n <= 9; n++) {
    const command = n < 9 ? "sleep 2" : "sleep 3600";
    await harbour.put(request, `turn-${n}`, { cluster: "lab", type: "V100", gpus: 4, command });
  }
  // Those that have started by then had to wait 2, 4, 6 … seconds.
  await harbour.until(request, "turn-8", "RUNNING");
  await berth.open(page, address("turn-99", { cluster: "lab", type: "V100", gpus: 4 }));
  await expect(page.locator(".verdict")).toContainText(/in (about )?\d+s.*, from \d past runs of this name/);
  await harbour.put(request, "another", { cluster: "lab", type: "V100", gpus: 4 });
  await berth.open(page, "/jobs?q=state%3Awaiting&all=1");
  const row = page.getByRole("row", { name: /another/ });
  await expect(row.locator(".state-cell__start")).toContainText(/in (about )?\d+s/);
  await berth.picture(page, "expected");
  await berth.open(page, "/jobs/admin/another");
  await expect(page.locator(".wait-facts__start")).toContainText(/past runs of its owner in lab/);
  await harbour.end(request, "another");
  for (const n of [8, 9]) await harbour.end(request, `turn-${n}`);
});

signedIn("what would start at once instead is offered, and a click makes it so", async ({ page, request }) => {
  await harbour.put(request, "left", { cluster: "vision", type: "A100", gpus: 3 });
  await harbour.put(request, "right", { cluster: "default", type: "A100", gpus: 3 });
  for (const name of ["left", "right"]) await harbour.until(request, name, "RUNNING");
  const whole: harbour.JobRequest = { cluster: "default", type: "A100", gpus: 8 };
  const verdict = page.locator(".verdict__line");
  await berth.open(page, address("whole", whole));
  await expect(verdict).toContainText("Would wait");
  await page.locator(".verdict").getByRole("button", { name: /as 2 × 4 GPUs/ }).click();
  await expect(verdict).toContainText("Fits now");
  await expect(page.getByLabel("Tasks", { exact: true })).toHaveValue("2");

  await harbour.put(request, "whole", whole);
  await berth.open(page, "/jobs/admin/whole");
  await page.getByRole("link", { name: /as 2 × 4 GPUs/ }).click();
  await expect(page).toHaveURL(/instead=split/);
  await expect(page.locator("textarea[name=text]")).toHaveValue(/"gpuNumber": ?4/);
  // Until it is stopped, the job itself is ahead of its clone.
  await expect(page.locator(".verdict")).toContainText("admin~whole");
  await harbour.end(request, "whole");
  await expect(verdict).toContainText("Fits now");
  await berth.picture(page, "instead");
  for (const name of ["left", "right"]) await harbour.end(request, name);
});

signedIn("a time limit that ends before who is ahead starts is offered, and a click sets it", async ({ page, request }) => {
  await harbour.put(request, "three-hours", { cluster: "lab", type: "V100", gpus: 3, limit: "3h" });
  await harbour.until(request, "three-hours", "RUNNING");
  await harbour.put(request, "all-four", { cluster: "lab", type: "V100", gpus: 4, limit: "30m" });
  await berth.open(page, address("one-more", { cluster: "lab", type: "V100", gpus: 1 }));
  const verdict = page.locator(".verdict__line");
  await expect(verdict).toContainText("Would wait");
  const offer = page.locator(".verdict").getByRole("button", { name: /before admin~all-four starts/ });
  await expect(offer).toContainText("with a limit of 2h");
  await berth.picture(page, "limit-offered");
  const wide = page.viewportSize()!;
  await page.setViewportSize({ width: 320, height: 740 });
  expect((await offer.boundingBox())!.width).toBeLessThanOrEqual(320);
  await page.setViewportSize(wide);
  await offer.click();
  await expect(verdict).toContainText("Fits now");
  await expect(page.locator("textarea[name=text]")).toHaveValue(/"timeLimit": ?"2h"/);
  for (const name of ["all-four", "three-hours"]) await harbour.end(request, name);
});

signedIn("another type and another virtual cluster are offered, and a click chooses them", async ({ page, request }) => {
  const verdict = page.locator(".verdict__line");
  const text = page.locator("textarea[name=text]");
  const offer = (words: RegExp) => page.locator(".verdict").getByRole("button", { name: words });
  await harbour.put(request, "all-of-vision", { cluster: "vision", type: "A100", gpus: 8 });
  await harbour.put(request, "all-the-rest", { cluster: "default", type: "A100", gpus: 8 });
  for (const name of ["all-of-vision", "all-the-rest"]) await harbour.until(request, name, "RUNNING");
  await berth.open(page, address("other-type", { cluster: "default", type: "A100", gpus: 2 }));
  await expect(verdict).toContainText("Would wait");
  await offer(/on V100/).click();
  await expect(verdict).toContainText("Fits now");
  await expect(text).toHaveValue(/"gpuType": ?"V100"/);
  for (const name of ["all-of-vision", "all-the-rest"]) await harbour.end(request, name);

  // One that borrows nothing has no more than its two.
  const alone = { share: { gpus: { A100: 2 } }, borrows: false };
  const made = await request.put("/api/v2/virtual-clusters/alone", { headers: { Origin: own.url }, data: alone });
  expect(made.ok(), await made.text()).toBe(true);
  await harbour.put(request, "both-of-alone", { cluster: "alone", type: "A100", gpus: 2 });
  await harbour.until(request, "both-of-alone", "RUNNING");
  await berth.open(page, address("elsewhere", { cluster: "alone", type: "A100", gpus: 2 }));
  await expect(verdict).toContainText("Would wait");
  await offer(/in default/).click();
  await expect(verdict).toContainText("Fits now");
  await expect(text).toHaveValue(/"virtualCluster": ?"default"/);
  await harbour.end(request, "both-of-alone");
});

// Every page that there is, on the seeded cluster, with jobs in each kind of state.
import { type Browser, type BrowserContext, type Page, expect } from "@playwright/test";
import * as berth from "./pages";
import type { Cluster } from "./seeded";

/** Pages that are looked at at the same time. */
const AT_ONCE = 3;
const TABS = ["", "/tasks", "/logs", "/metrics", "/terminal", "/connect", "/events", "/config"];
/** A job file with mistakes of several kinds. */
const MISTAKEN = '{"jobName": "a b", "image": "x", "taskRoles": [{"name": "w", "memoryMB": 5}]}';

/** The pages of the newest jobs in a state. */
export async function jobs(cluster: Cluster, state: string, count: number): Promise<string[]> {
  const found = await cluster.get(`/api/v2/jobs?state=${state}&limit=${count}`);
  return found.map(({ username, name }: { username: string; name: string }) => `/jobs/${username}/${name}`);
}

/** The addresses of all pages, once each; `everywhere.spec.ts` tests that none is missing. */
export async function everywhere(cluster: Cluster): Promise<string[]> {
  const newest = async (state: string) => (await jobs(cluster, state, 1))[0];
  const [running, waiting, failed] = await Promise.all(["RUNNING", "WAITING", "FAILED"].map(newest));
  const beside = [running, failed].map((path) => path.replace("/jobs/", "job=").replace("/", "~")).join("&");
  return [
    "/",
    "/compare",
    `/compare?${beside}&job=nobody~none`,
    "/jobs",
    "/jobs?all=1",
    "/jobs?q=sate:failed+gpu:many",
    ...TABS.map((tab) => running + tab),
    waiting,
    failed,
    `${failed}/logs`,
    `${running}/logs?task=*`,
    "/submit",
    "/submit?way=editor",
    "/submit?way=file",
    `/submit?text=${encodeURIComponent(MISTAKEN)}`,
    "/files",
    "/clusters",
    "/nodes",
    "/nodes?by=user&group=type",
    "/nodes?view=table",
    "/nodes/sim-v100-01",
    "/nodes/sim-v100-14",
    "/usage",
    "/usage?by=day",
    "/admin",
    "/admin/groups",
    "/admin/nodes",
    "/admin/clusters",
    "/admin/storages",
    "/admin/audit",
    "/profile",
    "/reference",
    "/sign-in",
    "/sign-in?error=TemporaryPasswordError&next=%2F&username=demo-ada&choose=1",
    "/no/such/page",
    "/jobs/demo-ada/none",
  ];
}

/** Further jobs, which wait for different reasons and have ended in different ways, and a node that is drained. */
export async function further(cluster: Cluster): Promise<string[]> {
  const [waiting, failed, [stopped]] = await Promise.all([
    jobs(cluster, "WAITING", 6),
    jobs(cluster, "FAILED", 8),
    jobs(cluster, "STOPPED", 1),
  ]);
  const events = [failed[0], failed[1], stopped].map((job) => `${job}/events`);
  return [...waiting.slice(1), ...failed.slice(1), stopped, ...events, "/nodes/sim-titanx-16"];
}

/** How a page is looked at. */
export interface Look {
  width: number;
  language: "en" | "zh";
  theme: "light" | "dark";
}

/** A browser of the administrator of the seeded cluster who looks like that, or of somebody who is not signed in. */
export async function looking(browser: Browser, cluster: Cluster, look: Look, signedIn = true): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: cluster.url,
    storageState: signedIn ? cluster.signedIn : { cookies: [], origins: [] },
    viewport: { width: look.width, height: 900 },
    reducedMotion: "reduce",
  });
  await context.addCookies([
    { name: "berth_language", value: look.language, url: cluster.url },
    { name: "berth_theme", value: look.theme, url: cluster.url },
  ]);
  return context;
}

/** Such browsers for all pages: that for signing in is seen by somebody who is not signed in. */
export async function browsers(browser: Browser, cluster: Cluster, look: Look) {
  const inside = await looking(browser, cluster, look);
  const outside = await looking(browser, cluster, look, false);
  return {
    all: [inside, outside],
    at: (path: string) => (path.startsWith("/sign-in") ? outside : inside),
    close: async () => {
      await inside.close();
      await outside.close();
    },
  };
}

/** Opens a page in one of them, as wide as that, and waits until it is as it is to be looked at. */
export async function opened(context: BrowserContext, look: Look, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.setViewportSize({ width: look.width, height: 900 });
  await berth.open(page, path);
  await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", look.language === "en" ? "en" : "zh-CN");
  await expect(page.locator("html")).toHaveAttribute("data-theme", look.theme);
  if (path === "/reference") await expect(page.locator(".reference .opblock-tag").first()).toBeVisible();
  return page;
}

/** Does something at each address, at some at the same time, and gives what was found. */
export async function atEach<Found>(
  addresses: string[],
  visit: (address: string, number: number) => Promise<Found[]>,
): Promise<Found[]> {
  const left = addresses.map((address, number) => ({ address, number }));
  const found: Found[] = [];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      found.push(...(await visit(next.address, next.number)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

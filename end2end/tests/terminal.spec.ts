import { readFileSync } from "node:fs";
import AxeBuilder from "@axe-core/playwright";
import { type APIRequestContext, type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";

/** What was put there and runs until it is stopped. */
const running: string[] = [];

test.afterEach(async ({ request, baseURL }) => {
  for (const name of running.splice(0)) {
    const path = `/api/v2/jobs/admin~${name}/executionType`;
    await request.put(path, { headers: { Origin: baseURL ?? "" }, data: { value: "STOP" } });
  }
});

/** Puts a job there that runs until it is stopped. */
async function put(request: APIRequestContext, baseURL: string | undefined, name: string, command = "sleep 600") {
  await berth.put(request, baseURL, name, command);
  running.push(name);
}

/** Opens a terminal in the task that is offered: no link does it by itself. */
function enter(page: Page) {
  return page.getByRole("button", { name: "Open a terminal" }).click();
}

function terminal(page: Page, name: string) {
  const region = page.getByRole("region", { name: `Terminal of ${name}`, exact: true });
  const keys = region.getByRole("textbox", { name: `Terminal of ${name}`, exact: true });
  return {
    region,
    keys,
    status: region.getByRole("status").first(),
    screen: region.locator(".xterm-rows"),
    async types(text: string) {
      await keys.focus();
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    },
  };
}

test("a terminal is typed into, resized, and comes back after the network was cut", async ({
  page,
  request,
  baseURL,
}) => {
  await put(request, baseURL, "entered");
  await berth.open(page, "/jobs/admin/entered");
  await berth.becomes(page, "RUNNING");
  await page.getByRole("link", { name: "Tasks", exact: true }).click();
  await page.getByRole("row", { name: /main-0/ }).getByRole("link", { name: "Terminal" }).click();
  await expect(page).toHaveURL(/\/jobs\/admin\/entered\/terminal\?task=main-0$/);
  await enter(page);
  const main = terminal(page, "main-0");
  await expect(main.status).toHaveText("Open");

  await main.types("echo sum-$((40+2)) $TERM; MARK=kept");
  await expect(main.screen).toContainText("sum-42 xterm-256color");
  await berth.picture(page, "terminal");
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => ({ id, where: nodes.map(({ html }) => html) }))).toEqual([]);

  const width = async () => {
    await main.types("clear; echo wide-$(stty size | cut -d' ' -f2)-");
    await expect(main.screen).toContainText(/wide-\d+-/);
    return Number(/wide-(\d+)-/.exec((await main.screen.textContent()) ?? "")?.[1]);
  };
  const before = await width();
  await page.setViewportSize({ width: 900, height: 800 });
  await expect(async () => expect(await width()).toBeLessThan(before)).toPass();

  await page.context().setOffline(true);
  await expect(main.status).toContainText("connection was lost");
  await page.context().setOffline(false);
  await expect(main.status).toHaveText("Open");
  await main.types("clear; echo still-$MARK");
  await expect(main.screen).toContainText("still-kept");

  await main.types("exit 7");
  await expect(main.status).toHaveText("The shell has ended with exit code 7.");
  await main.region.getByRole("button", { name: "Open again" }).click();
  await expect(main.status).toHaveText("Open");
  await main.types("echo other-$MARK.");
  await expect(main.screen).toContainText("other-.");
});

test("several terminals are open at once, each fills the window when asked", async ({ page, request, baseURL }) => {
  await put(request, baseURL, "entered-twice");
  await berth.open(page, "/jobs/admin/entered-twice");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/jobs/admin/entered-twice/terminal");
  await enter(page);
  const first = terminal(page, "main-0");
  await expect(first.status).toHaveText("Open");
  await first.types("WHO=first");
  await page.getByRole("button", { name: "Open a terminal" }).click();
  const second = terminal(page, "main-0 (2)");
  await expect(second.status).toHaveText("Open");
  await expect(first.region).toBeHidden();
  await second.types("WHO=second; echo i-am-$WHO.");
  await expect(second.screen).toContainText("i-am-second.");
  await page.getByRole("button", { name: "main-0", exact: true }).click();
  await first.types("echo i-am-$WHO.");
  await expect(first.screen).toContainText("i-am-first.");

  const small = await first.region.boundingBox();
  await first.region.getByRole("button", { name: "Full window" }).click();
  await expect.poll(async () => (await first.region.boundingBox())?.width).toBeGreaterThan(small?.width ?? 0);
  await first.region.getByRole("button", { name: "Full window" }).click();

  // A reload finds the same shell.
  await berth.open(page, page.url());
  await enter(page);
  await expect(first.status).toHaveText("Open");
  await first.types("echo again-$WHO.");
  await expect(first.screen).toContainText("again-first.");
  await first.region.getByRole("button", { name: "Close" }).click();
  await expect(first.region).toHaveCount(0);
});

test("a file goes into the container and comes out again", async ({ page, request, baseURL }) => {
  await put(request, baseURL, "takes-files");
  await berth.open(page, "/jobs/admin/takes-files");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/jobs/admin/takes-files/terminal");
  await enter(page);
  const main = terminal(page, "main-0");
  await expect(main.status).toHaveText("Open");
  await main.region.getByText("Files", { exact: true }).click();
  await main.region.getByLabel("To the folder").fill("/tmp");
  const buffer = Buffer.from("written by a page\n".repeat(100_000));
  const file = { name: "there and back.txt", mimeType: "text/plain", buffer };
  await main.region.getByLabel("Send a file").setInputFiles(file);
  await expect(main.region.getByText("Sent to /tmp/there and back.txt.")).toBeVisible();
  await main.types("clear; wc -c < '/tmp/there and back.txt'");
  await expect(main.screen).toContainText(String(buffer.length));
  await main.region.getByLabel("File in the container").fill("/tmp/there and back.txt");
  const opened = page.waitForEvent("download");
  await main.region.getByRole("button", { name: "Download" }).click();
  const download = await opened;
  expect(download.suggestedFilename()).toBe("there and back.txt");
  expect(readFileSync(await download.path()).equals(buffer)).toBe(true);
});

test("each key is on the screen by itself", async ({ page, request, baseURL }) => {
  await put(request, baseURL, "quick");
  await berth.open(page, "/jobs/admin/quick");
  await berth.becomes(page, "RUNNING");
  await berth.open(page, "/jobs/admin/quick/terminal");
  await enter(page);
  const main = terminal(page, "main-0");
  await expect(main.status).toHaveText("Open");
  await main.types("cat > /dev/null");
  await main.keys.focus();
  await page.evaluate(() => {
    const times: number[] = [];
    let began = 0;
    const rows = document.querySelector(".xterm-rows");
    addEventListener("keydown", () => (began = performance.now()), { capture: true });
    new MutationObserver(() => {
      if (began > 0) times.push(performance.now() - began);
      began = 0;
    }).observe(rows ?? document, { childList: true, subtree: true, characterData: true });
    Object.assign(window, { times });
  });
  const seen = () => page.evaluate(() => (window as unknown as { times: number[] }).times);
  for (let key = 1; key <= 40; key += 1) {
    await page.keyboard.press("x");
    await expect.poll(async () => (await seen()).length, { intervals: [20] }).toBe(key);
  }
  // A figure to look at: how soon depends on the machine.
  const times = (await seen()).sort((one, other) => one - other);
  console.log(`key to screen: median ${times[20]?.toFixed(1)} ms of ${times.length}`);
});

test("what a task serves has a host of its own, from which the portal is out of reach", async ({
  page,
  request,
  baseURL,
}) => {
  const serve =
    "mkdir /www && cd /www && echo '<h1>Served by the task</h1><a href=\"/next.html\">next</a>' > index.html && " +
    "echo '<h1>Next page</h1>' > next.html && exec python3 -m http.server $PAI_PORT_LIST_main_0_http";
  await put(request, baseURL, "serves", serve);
  await berth.open(page, "/jobs/admin/serves");
  await berth.becomes(page, "RUNNING");
  // It says that nothing listens yet, and tries again by itself.
  await page.goto("/proxy/serves/main/0/http/");
  await expect(page.getByRole("heading", { name: "Served by the task" })).toBeVisible();
  expect(new URL(page.url()).hostname).toMatch(/^t-[0-9a-f]{24}\.localhost$/);
  // Neither does it see a cookie of ours, nor can it plant one where the portal would find it.
  expect(await page.evaluate(() => document.cookie)).toBe("");
  await page.evaluate(() => (document.cookie = "berth_session=planted; domain=localhost; path=/"));
  const planted = (await page.context().cookies()).filter(({ value }) => value === "planted");
  expect(planted).toEqual([]);
  await page.getByRole("link", { name: "next" }).click();
  await expect(page.getByRole("heading", { name: "Next page" })).toBeVisible();
  const reach = (path: string, init: RequestInit) =>
    page.evaluate(
      async ([url, init]) => {
        try {
          const answer = await fetch(url as string, init as RequestInit);
          return answer.type === "opaque" ? "opaque" : `${answer.status}`;
        } catch {
          return "refused";
        }
      },
      [`${baseURL}${path}`, init] as const,
    );
  expect(await reach("/api/v2/jobs", { credentials: "include" })).toBe("refused");
  await reach("/api/v2/jobs/admin~serves/executionType", {
    method: "PUT",
    body: '{"value":"STOP"}',
    credentials: "include",
    mode: "no-cors",
  });
  await berth.open(page, "/jobs/admin/serves");
  await expect(berth.state(page)).toHaveAttribute("data-state", "RUNNING");
});

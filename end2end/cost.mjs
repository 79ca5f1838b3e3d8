// What it costs to look at pages: opened cold by a browser, opened again a few times, then, some of them,
// left open while the cluster changes. Prints one line of JSON a page. `cargo xtask bench pages` says which server, and makes the changes.
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "@playwright/test";

const url = process.env.BENCH_URL;
const seconds = Number(process.env.BENCH_SECONDS);
const pages = JSON.parse(process.env.BENCH_PAGES);
const credentials = JSON.parse(process.env.BENCH_CREDENTIALS);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  for (const page of pages) console.log(JSON.stringify({ name: page.name, ...(await measure(page)) }));
} finally {
  await browser.close();
}

async function measure({ name, path, watched }) {
  const locale = name.endsWith("_zh") ? "zh-CN" : "en-US";
  // Nothing is cached in a new one.
  const context = await browser.newContext({ baseURL: url, locale, viewport: { width: 1440, height: 900 } });
  const answer = await context.request.post("/auth/sign-in", { data: credentials, headers: { Origin: url } });
  if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`);
  await context.addInitScript(noteWhenAlive);
  const page = await context.newPage();
  const network = await traffic(page);
  const open = async () => {
    network.forget();
    await page.goto(path);
    await page.locator("body[data-alive]").waitFor();
  };
  await open();
  await network.quiet();
  const cold = network.take();
  const html = await (await context.request.get(path)).body();
  const opened = [];
  for (let time = 0; time < 5; time++) {
    await open();
    await network.quiet();
    opened.push(await page.evaluate(moments));
  }
  const middle = (of) => opened.map(of).sort((one, other) => one - other)[2];
  network.take();
  if (watched) await pause(seconds * 1000);
  const seen = network.take();
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  await context.close();
  return {
    ...(watched && { requests_per_second: seen.requests / seconds, kb_per_second: seen.bytes / 1000 / seconds }),
    html_kb: html.length / 1000,
    elements,
    code_kb: cold.code / 1000,
    cold_requests: cold.requests,
    cold_kb: cold.bytes / 1000,
    paint_ms: middle(({ paint }) => paint),
    alive_ms: middle(({ alive }) => alive),
  };
}

// In the page: notes when it answers to what one does.
function noteWhenAlive() {
  const seen = new MutationObserver(() => {
    if (!document.body?.hasAttribute("data-alive")) return;
    window.aliveAt = performance.now();
    seen.disconnect();
  });
  seen.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-alive"] });
}

// In the page: when it showed something first, and when it answered, in milliseconds since it was asked for.
function moments() {
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return { paint: paint?.startTime ?? null, alive: window.aliveAt ?? null };
}

// Counts requests, and bytes as they are transferred.
async function traffic(page) {
  const session = await page.context().newCDPSession(page);
  let requests = 0;
  let bytes = 0;
  let code = 0;
  let open = new Set();
  const isCode = new Map();
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ requestId, request, type }) => {
    if (!request.url.startsWith("http")) return;
    requests += 1;
    isCode.set(requestId, /\.(js|wasm)(\?|$)/.test(request.url));
    if (type !== "EventSource") open.add(requestId);
  });
  session.on("Network.dataReceived", ({ requestId, dataLength, encodedDataLength }) => {
    const length = encodedDataLength || (open.has(requestId) ? 0 : dataLength);
    bytes += length;
    if (isCode.get(requestId)) code += length;
  });
  const over = ({ requestId }) => open.delete(requestId);
  session.on("Network.loadingFinished", over);
  session.on("Network.loadingFailed", over);
  return {
    // What the page before had on its way nobody waits for.
    forget() {
      open = new Set();
    },
    // Nothing on its way for half a second, but for what is asked for and waits for something to happen.
    async quiet() {
      for (let [still, times] = [0, 0]; still < 5 && times < 50; times++) {
        await pause(100);
        still = open.size === 0 ? still + 1 : 0;
      }
    },
    take() {
      const taken = { requests, bytes, code };
      [requests, bytes, code] = [0, 0, 0];
      return taken;
    },
  };
}

// What it costs to look at pages: opened cold by a browser, then left open while the cluster changes.
// Prints one line of JSON a page. `cargo xtask bench pages` says which server, and makes the changes.
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
  for (const [name, path] of Object.entries(pages)) {
    const locale = name.endsWith("_zh") ? "zh-CN" : "en-US";
    console.log(JSON.stringify({ name, ...(await measure(path, locale)) }));
  }
} finally {
  await browser.close();
}

async function measure(path, locale) {
  // Nothing is cached in a new one.
  const context = await browser.newContext({ baseURL: url, locale, viewport: { width: 1440, height: 900 } });
  const answer = await context.request.post("/auth/sign-in", { data: credentials, headers: { Origin: url } });
  if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`);
  const page = await context.newPage();
  const network = await traffic(page);
  await page.goto(path);
  await page.locator("body[data-alive]").waitFor();
  await network.quiet();
  const cold = network.take();
  const html = await (await context.request.get(path)).body();
  await pause(seconds * 1000);
  const watched = network.take();
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  await context.close();
  return {
    requests_per_second: watched.requests / seconds,
    kb_per_second: watched.bytes / 1000 / seconds,
    html_kb: html.length / 1000,
    elements,
    code_kb: cold.code / 1000,
    cold_requests: cold.requests,
    cold_kb: cold.bytes / 1000,
  };
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
    // Nothing on its way for half a second.
    async quiet() {
      for (let still = 0; still < 5; still = open.size === 0 ? still + 1 : 0) await pause(100);
    },
    take() {
      const taken = { requests, bytes, code };
      [requests, bytes, code] = [0, 0, 0];
      return taken;
    },
  };
}

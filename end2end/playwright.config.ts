import { defineConfig } from "@playwright/test";

// On simulated nodes, of the seeded cluster or of servers of their own.
const SEEDED = /\/(accessibility|all-logs|everywhere|keys|languages|manual-files|many|seeded|starts|views)\.spec\.ts$/;
const OWN = /\/(finding|layout|live|truth|ways-in)\.spec\.ts$/;

// `cargo xtask test` says which binary, which site and which engine; see server.ts for the defaults.
export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./server.ts",
  fullyParallel: false,
  // Two at once, but of each kind one after the other: specs of a kind count what runs on the same cluster.
  workers: 2,
  projects: [
    { name: "engine", workers: 1, testIgnore: [SEEDED, OWN] },
    { name: "seeded", workers: 1, testMatch: SEEDED },
    { name: "own", workers: 1, testMatch: OWN },
  ],
  timeout: 180_000,
  expect: { timeout: 15_000 },
  forbidOnly: true,
  // What takes long and finds little more.
  grepInvert: process.env.BERTH_TEST_EVERY ? undefined : /@every/,
  reporter: [["list"], ["./failures.ts"]],
  use: {
    baseURL: process.env.BERTH_TEST_URL,
    locale: "en-GB",
    timezoneId: "UTC",
    viewport: { width: 1280, height: 900 },
    storageState: "test-results/signed-in.json",
    screenshot: "only-on-failure",
    // With what the page was at each step, and no film of it, which costs more than the steps.
    trace: { mode: "retain-on-failure", screenshots: false },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});

import { defineConfig } from "@playwright/test";

// `cargo xtask test` says which binary, which site and which engine; see server.ts for the defaults.
export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./server.ts",
  fullyParallel: false,
  workers: 1,
  timeout: 90_000,
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
    trace: "retain-on-failure",
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

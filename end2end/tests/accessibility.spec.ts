import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import * as berth from "../pages";

const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const PAGES = [
  ["home", "/"],
  ["jobs", "/jobs"],
  ["job", "/jobs/admin/seen"],
  ["job-tasks", "/jobs/admin/seen/tasks"],
  ["job-logs", "/jobs/admin/seen/logs"],
  ["job-terminal", "/jobs/admin/seen/terminal"],
  ["job-events", "/jobs/admin/seen/events"],
  ["job-config", "/jobs/admin/seen/config"],
  ["submit", "/submit"],
  ["files", "/files"],
  ["clusters", "/clusters"],
  ["nodes", "/nodes"],
  ["node", "/nodes/quay"],
  ["admin", "/admin"],
  ["admin-audit", "/admin/audit"],
  ["profile", "/profile"],
  ["not-found", "/no/such/page"],
] as const;

test.beforeAll(async ({ request, baseURL }) => {
  await request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: {
      jobName: "seen",
      image: "berth/base:latest",
      taskRoles: [
        { name: "main", taskNumber: 2, cpuNumber: 1, memoryMB: 256, gpuNumber: 1, command: "echo seen" },
      ],
    },
  });
});

// Colours are those of a theme and words those of a language: two of the four see them all.
for (const [theme, language] of [["light", "en"], ["dark", "zh"]] as const) {
  test(`no barrier on any page, ${theme}, ${language}`, async ({ page, baseURL }) => {
    test.setTimeout(300_000);
    await page.context().addCookies([
      { name: "berth_theme", value: theme, url: baseURL },
      { name: "berth_language", value: language, url: baseURL },
    ]);
    for (const [name, path] of PAGES) {
      await berth.open(page, path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expect(page.locator("html")).toHaveAttribute("lang", language === "en" ? /^en/ : /^zh/);
      await berth.picture(page, `${name}-${language}-${theme}`);
      const { violations } = await new AxeBuilder({ page }).withTags(STANDARDS).analyze();
      const told = violations.map(({ id, help, nodes }) => ({ id, help, where: nodes.map(({ html }) => html) }));
      expect.soft(told, `${path} in ${language}, ${theme}`).toEqual([]);
    }
  });
}

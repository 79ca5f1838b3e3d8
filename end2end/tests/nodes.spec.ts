import { type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";

function save(page: Page) {
  return page.getByRole("button", { name: "Save", exact: true }).click();
}

test("a node is added, asked for by label, changed and removed", async ({ page, request, baseURL }) => {
  await berth.open(page, "/admin/nodes");
  await page.getByLabel("Name").fill("jetty");
  await page.getByLabel("Address").fill("10.0.0.7");
  await page.getByLabel("Endpoint").fill("sim://jetty");
  await page.getByLabel("CPU cores").fill("8");
  await page.getByLabel("Memory (MiB)").fill("16384");
  await page.getByLabel("GPUs", { exact: false }).first().fill("A100=8");
  await page.getByLabel("Labels").fill("rack=3");
  await save(page);
  await expect(page.getByRole("dialog")).toContainText("Save jetty");
  await berth.confirm(page);
  const row = page.getByRole("row", { name: /jetty/ });
  await expect(row.getByText("Ready")).toBeVisible();

  await row.getByRole("link", { name: "Edit" }).click();
  await expect(page.getByRole("heading", { name: "Edit jetty" })).toBeVisible();
  await expect(page.getByLabel("Labels")).toHaveValue("rack=3");
  await expect(page.getByLabel("CPU cores")).toHaveValue("8");
  await page.getByLabel("Labels").fill("rack=4");
  await page.getByLabel("Several tasks may share a GPU").check();
  await berth.picture(page, "edit-node");
  await save(page);
  await berth.confirm(page);

  await berth.open(page, "/submit");
  await berth.write(page, "Form");
  await page.getByLabel("Name", { exact: true }).fill("wishes");
  await page.getByLabel("Image", { exact: true }).fill("berth/base:latest");
  await page.getByLabel("Command", { exact: true }).fill("sleep 600");
  await page.getByText("Retries, time limit, nodes and priority", { exact: true }).click();
  await page.getByLabel("Only on nodes labelled").fill("rack=3");
  await expect(page.getByText("There is no node labelled rack=3").first()).toBeVisible();
  await page.getByLabel("Only on nodes labelled").fill("rack=4");
  await berth.picture(page, "wishes");
  await berth.submit(page, "wishes");
  await berth.becomes(page, "RUNNING");
  await expect(page.locator(".facts").getByText("rack=4")).toBeVisible();
  await berth.picture(page, "wishes-job");
  await page.getByRole("link", { name: "Tasks", exact: true }).click();
  await expect(page.getByText("jetty").first()).toBeVisible();

  await berth.open(page, "/admin/nodes");
  await row.getByRole("button", { name: "Remove" }).click();
  const question = page.getByRole("dialog");
  await question.getByRole("button", { name: "Remove node jetty" }).click();
  await expect(question).toContainText("jetty still has tasks");
  await question.getByRole("button", { name: "Cancel" }).click();
  await request.put("/api/v2/jobs/admin~wishes/executionType", {
    headers: { Origin: baseURL ?? "" },
    data: { value: "STOP" },
  });
  await berth.open(page, "/jobs/admin/wishes");
  await berth.becomes(page, "STOPPED");
  await berth.open(page, "/admin/nodes");
  await row.getByRole("button", { name: "Remove" }).click();
  await berth.confirm(page);
  await expect(row).toBeHidden();
  await berth.open(page, "/admin/audit");
  await expect(page.getByText("removed a node").first()).toBeVisible();
});

test("a node of the configuration file is changed there", async ({ page }) => {
  await berth.open(page, "/admin/nodes?edit=quay");
  await expect(page.getByRole("heading", { name: "Edit quay" })).toBeVisible();
  await save(page);
  await expect(page.getByRole("dialog")).toContainText("the configuration file describes quay");
});

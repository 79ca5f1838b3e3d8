import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import * as berth from "../pages";

const KEY =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ me@laptop";

test("the ways into a job's tasks are ready to be copied", async ({ page, request, baseURL }) => {
  const role = { taskNumber: 2, cpuNumber: 1, memoryMB: 128, gpuNumber: 0, command: "sleep 600" };
  const answer = await request.post("/api/v1/jobs", {
    headers: { Origin: baseURL ?? "" },
    data: {
      jobName: "connected",
      image: "berth/base:latest",
      taskRoles: [{ name: "worker", ...role }],
    },
  });
  expect(answer.status(), await answer.text()).toBeLessThan(300);
  await berth.open(page, "/jobs/admin/connected");
  await berth.becomes(page, "RUNNING");
  await page.getByRole("link", { name: "Connect", exact: true }).click();
  await expect(page.getByText(/^ssh -i ~\/\.ssh\/admin~connected .* -p \d+ root@\d/)).toBeVisible();
  const first = await page.getByText(/^ssh -i/).innerText();
  await page.getByRole("link", { name: "worker-1", exact: true }).click();
  await expect(page).toHaveURL(/connect\?task=worker-1$/);
  await expect(page.getByText(/^ssh -i/)).not.toHaveText(first);
  await expect(page.getByRole("region", { name: "For ~/.ssh/config" })).toContainText(
    "Host connected-worker-1",
  );
  await expect(page.getByRole("link", { name: "Open in VS Code" })).toHaveAttribute(
    "href",
    "vscode://vscode-remote/ssh-remote+connected-worker-1/root",
  );
  await expect(page.getByRole("row", { name: /Private key file/ })).toContainText(
    "~/.ssh/admin~connected",
  );
  const saving = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download admin~connected" }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe("admin~connected");
  expect(readFileSync(await saved.path(), "utf8")).toContain("BEGIN OPENSSH PRIVATE KEY");
  await berth.picture(page, "connect");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop this job" }).click();
  await berth.becomes(page, "STOPPED");
});

test("one's own public keys are added and removed", async ({ page }) => {
  await berth.open(page, "/profile");
  const keys = page.getByRole("region", { name: "SSH public keys" }).first();
  await keys.getByLabel("Public key").fill("-----BEGIN OPENSSH PRIVATE KEY-----");
  await keys.getByRole("button", { name: "Add the key" }).click();
  await expect(keys.getByRole("alert")).toContainText("private key");
  await keys.getByLabel("Public key").fill(KEY);
  await keys.getByRole("button", { name: "Add the key" }).click();
  const row = keys.getByRole("row", { name: /me@laptop/ });
  await expect(row).toContainText("SHA256:");
  await berth.picture(page, "public-keys");
  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(keys.getByText("You have no public keys here.")).toBeVisible();
});

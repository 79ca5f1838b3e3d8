// Jupyter and TensorBoard themselves, in a container, opened with the Connect tab's buttons.
import { readFileSync } from "node:fs";
import { type APIRequestContext, type Page, expect, test } from "@playwright/test";
import { packages } from "../notebooks";
import * as berth from "../pages";

const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: "code", execution_count: null, id: "one", metadata: {}, outputs: [], source: "print(6 * 7)" }],
  metadata: { kernelspec: { display_name: "Python 3", language: "python", name: "python3" } },
  nbformat: 4,
  nbformat_minor: 5,
});

const WRITE = `import tensorboard.summary
writer = tensorboard.summary.Writer("/root/logs/run1")
for step in range(100):
    writer.add_scalar("loss", 1 / (step + 1), step)
writer.flush()
`;

const COMMAND = [
  "mkdir /root/lib && tar xzf tools/packages.tar.gz -C /root/lib && export PYTHONPATH=/root/lib/packages",
  "cp tools/first.ipynb /root && python3 tools/write.py && cd /root",
  "python3 -m tensorboard.main --logdir logs --host 0.0.0.0 --port $PAI_PORT_LIST_main_0_tensorboard &",
  "exec python3 -m nbclassic --ip 0.0.0.0 --port $PAI_PORT_LIST_main_0_jupyter --no-browser --allow-root" +
    " --ServerApp.token= --ServerApp.password= --ServerApp.allow_remote_access=True",
].join("\n");

test.setTimeout(300_000);

async function upload(request: APIRequestContext, origin: string, name: string, data: string | Buffer) {
  const answer = await request.put(`/api/v2/files/admin/tools/${name}`, { headers: { Origin: origin }, data });
  expect(answer.status(), await answer.text()).toBe(201);
}

async function opened(page: Page, label: string): Promise<Page> {
  const [other] = await Promise.all([
    page.context().waitForEvent("page"),
    page.getByRole("link", { name: `Open ${label}` }).click(),
  ]);
  return other;
}

test("a notebook's cell is run and TensorBoard draws", async ({ page, request, baseURL }) => {
  const origin = baseURL ?? "";
  await upload(request, origin, "packages.tar.gz", readFileSync(packages()));
  await upload(request, origin, "first.ipynb", NOTEBOOK);
  await upload(request, origin, "write.py", WRITE);
  const port = (label: string) => ({ label, beginAt: 0, portNumber: 1 });
  const answer = await request.post("/api/v1/jobs", {
    headers: { Origin: origin },
    data: {
      jobName: "notebooks",
      image: "berth/base:latest",
      codeDir: "$PAI_DEFAULT_FS_URI/admin/tools",
      taskRoles: [
        {
          name: "main",
          taskNumber: 1,
          cpuNumber: 1,
          memoryMB: 2048,
          gpuNumber: 0,
          portList: [port("jupyter"), port("tensorboard")],
          command: COMMAND,
        },
      ],
    },
  });
  expect(answer.status(), await answer.text()).toBeLessThan(300);
  await page.goto("/jobs/admin/notebooks/connect");
  await berth.becomes(page, "RUNNING");

  const jupyter = await opened(page, "jupyter");
  const first = jupyter.getByRole("link", { name: "first.ipynb" });
  await expect(first).toBeVisible({ timeout: 120_000 });
  const [notebook] = await Promise.all([page.context().waitForEvent("page"), first.click()]);
  await expect(notebook.locator("#kernel_indicator_icon.kernel_idle_icon")).toBeVisible({ timeout: 60_000 });
  await notebook.locator(".code_cell .CodeMirror").first().click();
  await notebook.keyboard.press("Control+Enter");
  await expect(notebook.locator(".output_text").first()).toHaveText(/^\s*42\s*$/, { timeout: 60_000 });

  const board = await opened(page, "tensorboard");
  await expect(board.locator("scalar-card")).toBeVisible({ timeout: 120_000 });
  await expect(board.locator("scalar-card")).toContainText("loss");
  await request.put("/api/v2/jobs/admin~notebooks/executionType", { headers: { Origin: origin }, data: { value: "STOP" } });
});

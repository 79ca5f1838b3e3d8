import { type APIRequestContext, expect, test } from "@playwright/test";
import * as berth from "../pages";

type Headers = Record<string, string>;

/** Puts a job there that takes so many CPUs. */
async function take(request: APIRequestContext, headers: Headers, name: string, cpus: number, priority: string) {
  const text = {
    jobName: name,
    image: "berth/base:latest",
    extras: { berth: { priority } },
    taskRoles: [
      { name: "main", taskNumber: 1, cpuNumber: cpus, memoryMB: 256, gpuNumber: 0, command: "sleep 600" },
    ],
  };
  const answer = await request.post("/api/v1/jobs", { headers, data: text });
  expect(answer.status(), await answer.text()).toBeLessThan(300);
}

async function stop(request: APIRequestContext, headers: Headers, name: string) {
  await request.put(`/api/v2/jobs/admin~${name}/executionType`, { headers, data: { value: "STOP" } });
}

test("borrowed work gives way, says for whom, and goes on", async ({ page, request, baseURL }) => {
  const headers = { Origin: baseURL ?? "" };
  await berth.settled(request);
  const nodes = await (await request.get("/api/v2/nodes")).json();
  const quay = nodes.find((node: { name: string }) => node.name === "quay");
  await take(request, headers, "borrows", quay.capacity.cpus - quay.used.cpus, "oppo");
  await berth.open(page, "/jobs/admin/borrows");
  await berth.mark(page);
  await berth.becomes(page, "RUNNING");
  await take(request, headers, "takes-back", 1, "prod");
  await berth.becomes(page, "WAITING");
  await expect(page.getByText("Why is it waiting?")).toBeVisible();
  await expect(page.getByText("Its place was needed for guaranteed work")).toBeVisible();
  await berth.picture(page, "preempted");
  await page.getByRole("link", { name: "Events", exact: true }).click();
  await expect(page.getByText("gives way to takes-back").first()).toBeVisible();
  await stop(request, headers, "takes-back");
  await berth.becomes(page, "RUNNING");
  await berth.expectNoReload(page);
  await stop(request, headers, "borrows");
  await berth.becomes(page, "STOPPED");
});

test("who has to leave a node that is emptied says so", async ({ page, request, baseURL }) => {
  await berth.put(request, baseURL, "leaves", "sleep 600");
  await berth.open(page, "/jobs/admin/leaves");
  await berth.becomes(page, "RUNNING");
  const nodes = await page.context().newPage();
  await berth.open(nodes, "/nodes/quay");
  await nodes.getByRole("button", { name: "Empty now", exact: true }).click();
  await expect(nodes.getByRole("dialog")).toContainText("admin~leaves");
  await berth.confirm(nodes);
  await berth.becomes(page, "WAITING");
  await berth.picture(page, "emptied");
  await nodes.getByRole("button", { name: "Take tasks again" }).click();
  await berth.confirm(nodes);
  await berth.becomes(page, "RUNNING");
  await page.getByRole("link", { name: "Events", exact: true }).click();
  await expect(page.getByText("leaves quay, which is being emptied").first()).toBeVisible();
  await stop(request, { Origin: baseURL ?? "" }, "leaves");
  await berth.becomes(page, "STOPPED");
});

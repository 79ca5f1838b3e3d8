import { type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";

const RESTORED = "What you had not saved is here again.";
const OVER = "Some of it was saved with other values since.";

async function reload(page: Page) {
  await page.reload();
  await expect(page.locator("body[data-alive]")).toBeAttached();
}

/** A field of the form of a virtual cluster. */
function field(page: Page, name: string) {
  return page.locator(`[name="cluster${name}"]`);
}

test("what is written into the form of a virtual cluster is there until it is dropped", async ({ page }) => {
  await berth.open(page, "/admin/clusters");
  await field(page, "[name]").fill("half-done");
  await field(page, "[gpus]").fill("TITANX=2");
  await field(page, "[borrows]").uncheck();
  await field(page, "[preempts]").selectOption("crit");
  await page.getByText("Limits of users and groups").click();
  await page.getByRole("button", { name: "Add a user or group" }).click();
  await field(page, "[named][n1][name]").fill("vision");
  const isThere = async () => {
    await expect(page.getByText(RESTORED)).toBeVisible();
    await expect(page.getByText(OVER)).toBeHidden();
    await expect(field(page, "[name]")).toHaveValue("half-done");
    await expect(field(page, "[gpus]")).toHaveValue("TITANX=2");
    await expect(field(page, "[borrows]")).not.toBeChecked();
    await expect(field(page, "[preempts]")).toHaveValue("crit");
    await expect(field(page, "[named][n1][name]")).toHaveValue("vision");
    await expect(field(page, "[named][n1][name]")).toBeVisible();
  };
  await reload(page);
  await isThere();
  await berth.picture(page, "unsaved");
  // Another page, and back.
  await page.locator('a[href="/admin/storages"]').click();
  await expect(page.locator('[name="storage[name]"]')).toHaveValue("");
  await page.locator('a[href="/admin/clusters"]').click();
  await isThere();
  await page.getByRole("button", { name: "Discard" }).click();
  await expect(page.getByText(RESTORED)).toBeHidden();
  await expect(field(page, "[name]")).toHaveValue("");
  await expect(field(page, "[borrows]")).toBeChecked();
  await reload(page);
  await expect(field(page, "[name]")).toHaveValue("");
  await expect(page.getByText(RESTORED)).toBeHidden();
});

test("what others saved meanwhile is not overwritten without a word", async ({ page, request, baseURL }) => {
  const put = async (count: number) => {
    const data = { share: { gpus: { TITANX: count } } };
    const headers = { Origin: baseURL ?? "" };
    const answer = await request.put("/api/v2/virtual-clusters/meanwhile", { headers, data });
    expect(answer.ok(), await answer.text()).toBe(true);
  };
  await put(1);
  await berth.open(page, "/admin/clusters?edit=meanwhile");
  await field(page, "[gpus]").fill("TITANX=3");
  await put(2);
  await reload(page);
  await expect(field(page, "[gpus]")).toHaveValue("TITANX=3");
  await expect(page.getByText(OVER)).toBeVisible();
  await page.getByRole("button", { name: "Discard" }).click();
  await expect(field(page, "[gpus]")).toHaveValue("TITANX=2");

  // What was saved is not unsaved any more.
  await field(page, "[gpus]").fill("TITANX=4");
  await page.getByRole("button", { name: "Save" }).click();
  await berth.confirm(page);
  await reload(page);
  await expect(field(page, "[gpus]")).toHaveValue("TITANX=4");
  await expect(page.getByText(RESTORED)).toBeHidden();
  const gone = await request.post("/fn/clusters/remove", {
    headers: { Origin: baseURL ?? "", Accept: "application/json" },
    form: { name: "meanwhile" },
  });
  expect(gone.ok(), await gone.text()).toBe(true);
});

test("limits that were typed of somebody stay his when others get limits", async ({ page, request, baseURL }) => {
  const headers = { Origin: baseURL ?? "" };
  const put = async (users: Record<string, object>) => {
    const answer = await request.put("/api/v2/virtual-clusters/moved", { headers, data: { limits: { users } } });
    expect(answer.ok(), await answer.text()).toBe(true);
  };
  await put({ admin: { running_gpus: 8 } });
  await berth.open(page, "/admin/clusters?edit=moved");
  await field(page, "[named][for-user-admin][gpus]").fill("16");
  await put({ aaron: {}, admin: { running_gpus: 8 } });
  await reload(page);
  await expect(field(page, "[named][for-user-admin][gpus]")).toHaveValue("16");
  await expect(field(page, "[named][for-user-aaron][gpus]")).toHaveValue("");
  await expect(page.getByText(RESTORED)).toBeVisible();
  await expect(page.getByText(OVER)).toBeHidden();
  // Where nobody has a row of that name any more, that is said.
  await put({ aaron: { running_gpus: 4 } });
  await reload(page);
  await expect(page.getByText(OVER)).toBeVisible();
  await expect(field(page, "[named][for-user-aaron][gpus]")).toHaveValue("4");
  await expect(field(page, "[named][n0][gpus]")).toHaveValue("");
  const gone = await request.post("/fn/clusters/remove", {
    headers: { ...headers, Accept: "application/json" },
    form: { name: "moved" },
  });
  expect(gone.ok(), await gone.text()).toBe(true);
});

test("a choice that is gone meanwhile is not made, and that is said", async ({ page, request, baseURL }) => {
  const headers = { Origin: baseURL ?? "", Accept: "application/json" };
  const put = async (name: string) => {
    const answer = await request.put(`/api/v2/virtual-clusters/${name}`, { headers, data: { share: { gpus: {} } } });
    expect(answer.ok(), await answer.text()).toBe(true);
  };
  const remove = async (name: string) => {
    const gone = await request.post("/fn/clusters/remove", { headers, form: { name } });
    expect(gone.ok(), await gone.text()).toBe(true);
  };
  await put("whole-gone");
  await put("part-left");
  await berth.open(page, "/admin/clusters?edit=part-left");
  await field(page, "[parent]").selectOption("whole-gone");
  await remove("whole-gone");
  await reload(page);
  await expect(page.getByText(OVER)).toBeVisible();
  await expect(field(page, "[parent]")).toHaveValue("");
  await expect(page.locator('[name="cluster[parent]"] option:checked')).toHaveCount(1);
  await remove("part-left");
});

test("a password is kept nowhere", async ({ page }) => {
  await berth.open(page, "/admin/users");
  const form = page.locator("form", { has: page.getByRole("button", { name: "Add user" }) });
  await form.getByLabel("Password").fill("a password for nobody");
  await form.getByLabel("Name").fill("half-a-user");
  await reload(page);
  await expect(form.getByLabel("Name")).toHaveValue("half-a-user");
  await expect(form.getByLabel("Password")).toHaveValue("");
  const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  expect(kept).toContain("half-a-user");
  expect(kept).not.toContain("a password for nobody");
});

for (const [path, name] of [
  ["/admin/nodes", "node[endpoint]"],
  ["/admin/storages", "storage[place]"],
  ["/admin/groups", "group[description]"],
  ["/profile", "wishes[webhook]"],
] as const) {
  test(`the form of ${path} keeps what is typed over a reload`, async ({ page }) => {
    await berth.open(page, path);
    // What adds one comes after what changes those that there are.
    const last = page.locator(`[name="${name}"]`).last();
    await last.fill("half/done");
    await reload(page);
    await expect(last).toHaveValue("half/done");
    await expect(page.getByText(RESTORED)).toBeVisible();
  });
}

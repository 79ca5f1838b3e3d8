// Named views of the list of jobs, on the seeded cluster.
import * as berth from "../pages";
import { expect, test } from "../seeded";

test("a view is saved, leads back to its list, is renamed and removed, and is nobody else's", async ({ page, browser, cluster }) => {
  await berth.open(page, "/jobs?q=state:failed&all=1&sort=-gpus");
  const save = page.getByRole("button", { name: "Save this view" });
  const [field, end] = await Promise.all([page.getByRole("combobox", { name: "Filter jobs" }), save].map((part) => part.boundingBox()));
  expect(Math.abs(end!.y + end!.height / 2 - field!.y - field!.height / 2), "in the row of the filter").toBeLessThan(4);
  expect(end!.x).toBeGreaterThan(field!.x + field!.width);
  await save.click();
  const dialog = page.getByRole("dialog", { name: "Saved views" });
  await dialog.getByRole("textbox", { name: "Name of the view" }).fill("Failed, by size");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog.getByRole("textbox", { name: "New name of Failed, by size" })).toBeVisible();
  await berth.picture(page, "saved-views");
  await dialog.getByRole("button", { name: "Close" }).click();
  const saved = await cluster.get("/api/v2/saved-views");
  expect(saved).toEqual([{ name: "Failed, by size", filter: "state:failed", all: true, sort: "-gpus" }]);

  // It is there on the server's page too, and says when it is what is shown.
  await berth.open(page, "/jobs");
  const views = page.getByRole("list", { name: "Saved views" });
  const link = views.getByRole("link", { name: "Failed, by size" });
  await expect(link).not.toHaveAttribute("aria-current", "true");
  await link.click();
  await expect(page).toHaveURL(/q=state(:|%3A)failed&all=1&sort=-gpus$/);
  await expect(link).toHaveAttribute("aria-current", "true");
  await expect(page.locator("tbody [data-state]").first()).toHaveAttribute("data-state", "FAILED");

  const other = await browser.newContext({ baseURL: cluster.url, storageState: await cluster.signedInAs("demo-ada") });
  const theirs = await other.newPage();
  await berth.open(theirs, "/jobs");
  await expect(theirs.getByRole("button", { name: "Save this view" })).toBeVisible();
  await expect(theirs.getByText("Failed, by size")).toHaveCount(0);
  await other.close();

  await save.click();
  await dialog.getByRole("textbox", { name: "Name of the view" }).fill("Great");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  const great = dialog.getByRole("textbox", { name: "New name of Great" });
  await expect(great).toHaveValue("Great");
  await dialog.getByRole("textbox", { name: "New name of Failed, by size" }).fill("Broken");
  await dialog.getByRole("button", { name: "Rename Failed, by size" }).click();
  await expect(dialog.getByRole("textbox", { name: "New name of Broken" })).toBeVisible();
  await dialog.getByRole("button", { name: "Remove Broken" }).click();
  await expect(dialog.getByText("Removed.")).toBeVisible();
  await expect(dialog.getByRole("textbox", { name: "New name of Broken" })).toHaveCount(0);
  // What was typed for one is not what another is called.
  await expect(great).toHaveValue("Great");
  await dialog.getByRole("button", { name: "Remove Great" }).click();
  await expect(great).toHaveCount(0);
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText(/Broken|Great/)).toHaveCount(0);
  expect(await cluster.get("/api/v2/saved-views")).toEqual([]);
});

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Page, expect, test } from "@playwright/test";
import * as berth from "../pages";
import { PASSWORD } from "../server";

/** The row of a file or folder. */
function row(page: Page, name: string) {
  return page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
}

async function makeFolder(page: Page, name: string) {
  await page.locator("summary", { hasText: "New folder" }).click();
  await page.getByLabel("Name of the folder").fill(name);
  await page.getByRole("button", { name: "Make the folder" }).click();
  await expect(row(page, name)).toBeVisible();
  await expect(page.getByLabel("Name of the folder")).toBeHidden();
}

test("files are uploaded, looked at, renamed and deleted", async ({ page }, info) => {
  await berth.open(page, "/files");
  await expect(page.getByRole("heading", { level: 1, name: "Files" })).toBeVisible();
  await makeFolder(page, "uploads");
  await row(page, "uploads").getByRole("link", { name: "uploads" }).click();
  await expect(page).toHaveURL(/path=%2Fadmin%2Fuploads/);
  await expect(page.getByText("This folder is empty")).toBeVisible();

  const text = info.outputPath("notes 作业 #1.txt");
  writeFileSync(text, "the first line\nthe second line\n");
  const large = info.outputPath("large.bin");
  writeFileSync(large, Buffer.alloc(8_000_000, 7));
  await page.getByLabel("Choose files").setInputFiles([text, large]);
  await expect(page.getByText("2 files were sent.")).toBeVisible();
  await expect(row(page, "large.bin")).toContainText("7.6");
  await berth.picture(page, "files");

  await page.getByLabel("Choose files").setInputFiles([text]);
  await expect(page.getByRole("alert")).toContainText("There is a file of this name already.");
  await page.getByLabel("Replace files of the same name").check();
  writeFileSync(text, "the third line\n");
  await page.getByLabel("Choose files").setInputFiles([text]);
  await expect(page.getByText("1 file was sent.")).toBeVisible();

  await row(page, "notes 作业 #1.txt").getByRole("link", { name: "notes 作业 #1.txt" }).click();
  await expect(page.getByRole("region", { name: /Content of/ })).toContainText("the third line");
  await berth.picture(page, "file");
  await page.goBack();

  const saving = page.waitForEvent("download");
  await row(page, "large.bin").getByRole("link", { name: "Download" }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe("large.bin");
  expect(readFileSync(await saved.path()).length).toBe(8_000_000);

  await row(page, "large.bin").getByRole("button", { name: "Rename" }).click();
  const rename = page.getByRole("dialog", { name: "Rename large.bin" });
  await rename.getByLabel("New name").fill("small.bin");
  await rename.getByRole("button", { name: "Rename" }).click();
  await expect(row(page, "small.bin")).toBeVisible();
  await expect(row(page, "large.bin")).toHaveCount(0);

  await row(page, "small.bin").getByRole("button", { name: "Remove" }).click();
  const remove = page.getByRole("dialog", { name: "Delete small.bin?" });
  await berth.picture(page, "file-delete");
  await remove.getByRole("button", { name: "Remove" }).click();
  await expect(row(page, "small.bin")).toHaveCount(0);
});

test("a folder is uploaded with all that is in it and used as codeDir", async ({ page }, info) => {
  const folder = info.outputPath("my code");
  mkdirSync(join(folder, "deep"), { recursive: true });
  writeFileSync(join(folder, "train.py"), "print(1)\n");
  for (let number = 0; number < 30; number++) writeFileSync(join(folder, "deep", `${number}.txt`), `${number}`);
  await berth.open(page, "/files");
  await page.getByLabel("Choose a folder").setInputFiles(folder);
  await expect(page.getByText("31 files were sent.")).toBeVisible();
  await row(page, "my code").getByRole("link", { name: "my code" }).click();
  await expect(row(page, "deep")).toBeVisible();
  await expect(row(page, "train.py")).toBeVisible();
  await page.getByRole("link", { name: "Use as codeDir" }).click();
  await expect(page).toHaveURL(/\/submit\?text=/);
  await berth.write(page, "Editor");
  await expect(page.getByText("/admin/my code").first()).toBeVisible();
});

test("a picture is shown", async ({ page }, info) => {
  const picture = info.outputPath("dot.png");
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  writeFileSync(picture, Buffer.from(dot, "base64"));
  await berth.open(page, "/files");
  await page.getByLabel("Choose files").setInputFiles([picture]);
  await row(page, "dot.png").getByRole("link", { name: "dot.png" }).click();
  const image = page.getByRole("img", { name: "Content of dot.png" });
  await expect(image).toBeVisible();
  expect(await image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
});

test("files and folders that are dropped are sent", async ({ page }) => {
  await berth.open(page, "/files");
  const transfer = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
    return transfer;
  });
  await page.getByRole("region", { name: "Upload" }).dispatchEvent("drop", { dataTransfer: transfer });
  await expect(row(page, "dropped.txt")).toBeVisible();
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false, storageState: { cookies: [], origins: [] } });

  test("files are listed, read and downloaded", async ({ page }) => {
    await page.goto("/sign-in?next=/files");
    await page.getByLabel("User name").fill("admin");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.goto("/files?path=/admin/my+code");
    await row(page, "train.py").getByRole("link", { name: "train.py" }).click();
    await expect(page.getByRole("region", { name: /Content of/ })).toContainText("print(1)");
    const saving = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    expect(readFileSync(await (await saving).path(), "utf8")).toBe("print(1)\n");
    await page.getByRole("link", { name: "All files" }).click();
    await expect(row(page, "admin")).toBeVisible();
  });
});

test("an upload goes on where it was interrupted", async ({ page }, info) => {
  const large = info.outputPath("model.pt");
  writeFileSync(large, Buffer.alloc(40_000_000, 3));
  await berth.open(page, "/files");
  let parts = 0;
  let cut = true;
  await page.route("**/api/v2/uploads/**", async (route) => {
    if (cut && parts > 0) return route.abort("connectionfailed");
    if (route.request().method() === "PATCH") parts++;
    return route.continue();
  });
  await page.getByLabel("Choose files").setInputFiles(large);
  await expect(page.getByText("The connection is lost.")).toBeVisible();
  cut = false;
  await expect(page.getByText("1 file was sent.")).toBeVisible({ timeout: 15_000 });
  expect(parts).toBe(3);

  // The page is left in the middle; the file is chosen again later.
  writeFileSync(large, Buffer.alloc(50_000_000, 4));
  parts = 0;
  cut = true;
  await page.getByLabel("Replace files of the same name").check();
  await page.getByLabel("Choose files").setInputFiles(large);
  await expect(page.getByText("The connection is lost.")).toBeVisible();
  await page.reload();
  cut = false;
  const asked = page.waitForResponse((answer) => answer.request().method() === "GET" && answer.url().includes("/uploads/"));
  await page.getByLabel("Replace files of the same name").check();
  await page.getByLabel("Choose files").setInputFiles(large);
  expect(await (await asked).json()).toEqual({ arrived: 16 * 1024 * 1024 });
  await expect(page.getByText("1 file was sent.")).toBeVisible();
  const saving = page.waitForEvent("download");
  await row(page, "model.pt").getByRole("link", { name: "Download" }).click();
  const saved = readFileSync(await (await saving).path());
  expect(saved.equals(Buffer.alloc(50_000_000, 4))).toBe(true);
});

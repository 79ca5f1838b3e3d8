// The programs that people open most, as pip has them, packed once for all runs of the tests.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const wanted = readFileSync(resolve("notebooks.txt"), "utf8");
const folder = join(process.env.CARGO_TARGET_DIR ?? resolve("../target"), "tmp", "notebooks");

/** An archive of the packages, for the Python of the base image. */
export function packages(): string {
  const archive = join(folder, "packages.tar.gz");
  const known = join(folder, "packages.txt");
  if (existsSync(archive) && existsSync(known) && readFileSync(known, "utf8") === wanted) return archive;
  const target = join(folder, "packages");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const binary = ["--python-version", "3.11", "--only-binary", ":all:"];
  pip(["install", "--quiet", "--target", target, ...binary, "--requirement", resolve("notebooks.txt")]);
  execFileSync("tar", ["--create", "--gzip", "--file", archive, "--directory", folder, "packages"]);
  rmSync(target, { recursive: true });
  writeFileSync(known, wanted);
  return archive;
}

function pip(args: string[]) {
  execFileSync("python3", ["-m", "pip", ...args], { stdio: ["ignore", "ignore", "pipe"] });
}

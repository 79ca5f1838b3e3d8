// Says at the very end of a run what failed, where and why, in a few lines each: what a long run has
// printed before may not be kept.
import { basename } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, TestCase, TestError, TestResult } from "@playwright/test/reporter";

const LINES = 14;

export default class Failures implements Reporter {
  private readonly told: string[] = [];

  onTestEnd(test: TestCase, result: TestResult) {
    if (result.status === test.expectedStatus || result.status === "skipped") return;
    const name = test.titlePath().filter(Boolean).join(" › ");
    this.told.push([`${result.status}: ${name}`, ...result.errors.map(why)].join("\n"));
  }

  onEnd() {
    if (this.told.length > 0) console.log(`\n${this.told.join("\n\n")}\n`);
  }
}

function why({ message, value, location }: TestError): string {
  const lines = stripVTControlCharacters(message ?? value ?? "no reason is given").split("\n");
  const at = location ? `at ${basename(location.file)}:${location.line}` : "";
  return [at, ...lines.slice(0, LINES)].map((line) => `    ${line}`).join("\n");
}

// The editor's door: what the pages call, and nothing of Monaco before they do.
import type { Handle, Options } from "./editor/handle";

/** Makes an editor inside an element. Monaco and its words are fetched on the first call. */
export async function create(element: HTMLElement, options: Options): Promise<Handle> {
  if (options.locale === "zh") {
    await import("monaco-editor/nls/lang/zh-cn");
  }
  const { open } = await import("./editor/open");
  return open(element, options);
}

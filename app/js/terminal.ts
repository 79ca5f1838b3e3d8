// The terminal's door: what the pages call, and nothing of xterm.js before they do.
import type { Handle, Options } from "./terminal/handle";

export { upload } from "./terminal/upload";

/** Opens a terminal inside an element. xterm.js is fetched on the first call. */
export async function create(element: HTMLElement, options: Options): Promise<Handle> {
  const { open } = await import("./terminal/open");
  return open(element, options);
}

// The reference's door: what the pages call, and nothing of Swagger UI before they do.

/** Shows the OpenAPI document at an address inside an element; on a Chinese page the viewer's own words are those
 * given, as `reference/words.ts` reads them. Swagger UI is fetched on the first call. */
export async function create(element: HTMLElement, address: string, chinese: string): Promise<void> {
  const { open } = await import("./reference/open");
  open(element, address, chinese);
}

// Swagger UI has English words only. In Chinese its own words are replaced where they stand; what it shows of
// the document and of what is sent and answered stays as it is.

/** Where it shows texts that are not its own. */
const OTHERS = [
  "code, option, pre:not(.errors-wrapper), textarea",
  ".info .main, .info .description, .opblock-tag .nostyle, div.parameter__name",
  ".opblock-summary-method, .opblock-summary-path, .opblock-summary-description",
  ".renderedMarkdown:not(.parameter__enum, .parameter__default, .live-responses-table *)",
  ".json-schema-2020-12__title:not(:has(.json-schema-2020-12-keyword__name))",
  ".json-schema-2020-12-json-viewer__children, .json-schema-2020-12-json-viewer__value",
].join();
/** What it says by attributes. */
const ATTRIBUTES = ["aria-label", "placeholder", "title"];
const root = document.documentElement;

/** What follows the page that was opened last. */
let observer: MutationObserver | undefined;

/** Words what is shown in an element in the language of the page from now on; `sayings` reads the Chinese words. */
export function followLanguage(element: HTMLElement, chinese: string): void {
  const said = sayings(chinese);
  const english = new WeakMap<Node, { was: string; is: string }>();
  const word = (node: Node): void => {
    const text = node.nodeValue ?? "";
    const known = english.get(node);
    const was = known?.is === text ? known.was : text;
    const is = root.lang === "zh-CN" ? said(was) : was;
    if (is !== text) {
      english.set(node, { was, is });
      node.nodeValue = is;
    }
  };
  observer?.disconnect();
  observer = new MutationObserver((records) => {
    for (const target of new Set(records.map(({ target }) => target))) {
      ownWords(target === root ? element : target).forEach(word);
    }
  });
  observer.observe(element, { attributeFilter: ATTRIBUTES, characterData: true, childList: true, subtree: true });
  observer.observe(root, { attributeFilter: ["lang"] });
  ownWords(element).forEach(word);
}

/** The texts and the attributes at a node and below it that are the viewer's own. */
function ownWords(at: Node): Node[] {
  const above = at instanceof Element ? at : at.parentElement;
  if (above?.closest(OTHERS)) return [];
  const accept = (node: Node) =>
    node instanceof Element && node.matches(OTHERS) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
  const walker = document.createTreeWalker(at, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, accept);
  const found: Node[] = [];
  for (let node: Node | null = at; node !== null; node = walker.nextNode()) {
    if (node instanceof Element) {
      const attributes = ATTRIBUTES.map((name) => node.getAttributeNode(name));
      found.push(...attributes.filter((one) => one !== null));
    } else {
      found.push(node);
    }
  }
  return found;
}

/**
 * What says a text in another language, or as it is where it is not known. Each line is an English text, a tab
 * and the other one; what stands at the first one's `{}` goes where the other has `{0}`, `{1}`.
 */
function sayings(lines: string): (text: string) => string {
  const known = lines.split("\n").flatMap((line) => {
    const [english, other] = line.split("\t");
    if (english === undefined || other === undefined) return [];
    const source = english.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll("{}", "(.+)");
    return [{ pattern: new RegExp(`^(\\s*)${source}(\\s*)$`), other }];
  });
  const say = (text: string): string => {
    for (const { pattern, other } of known) {
      const [, before, ...rest] = pattern.exec(text) ?? [];
      if (before === undefined) continue;
      const filled = other.replace(/\{(\d)\}/g, (_, place) => say(rest[Number(place)] ?? ""));
      return before + filled + (rest.at(-1) ?? "");
    }
    return text;
  };
  return say;
}

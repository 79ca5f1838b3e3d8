// Swagger UI is dark where the root says so by a class, which says so wherever the page is dark.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

function paint(): void {
  const { theme } = root.dataset;
  root.classList.toggle("dark-mode", theme === "dark" || (theme !== "light" && dark.matches));
}

/** Follows the theme of the page from now on, as it is chosen and as the system has it. */
export function followTheme(): void {
  paint();
  dark.addEventListener("change", paint);
  new MutationObserver(paint).observe(root, { attributeFilter: ["data-theme"] });
}

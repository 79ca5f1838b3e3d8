// Bundles the JavaScript parts: `node build.mjs OUTDIR [--dev]`, or `npm run build -- --outdir=OUTDIR`.
// Every file gets a hash in its name; OUTDIR/manifest.json says which logical name became which file.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

const words = process.argv.slice(2);
const development = words.includes("--dev");
const outdir =
  words.find((word) => word.startsWith("--outdir="))?.slice("--outdir=".length) ??
  words.find((word) => !word.startsWith("--"));
if (outdir === undefined) {
  console.error("usage: node build.mjs OUTDIR [--dev]");
  process.exit(2);
}

// Styles travel inside the module that needs them: one request less, and nothing to forget.
const stylesInside = {
  name: "styles-inside",
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { outputFiles } = await build({
        entryPoints: [path],
        bundle: true,
        write: false,
        minify: true,
        loader: { ".ttf": "dataurl", ".svg": "dataurl" },
      });
      const text = JSON.stringify(outputFiles[0].text);
      const contents =
        `const style = document.createElement("style");` +
        `style.textContent = ${text};document.head.append(style);`;
      return { contents, loader: "js" };
    });
  },
};

// The module that starts workers imports every ability of the editor for its side effects alone. Those
// that we want are named in editor/features.ts.
const bareWorkers = {
  name: "bare-workers",
  setup(builder) {
    builder.onLoad({ filter: /internal[\\/]common[\\/]workers\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      return { contents: text.replace(/^import '[^']+';$/gm, ""), loader: "js" };
    });
  },
};

const shared = {
  outdir,
  bundle: true,
  format: "esm",
  target: "es2023",
  // Small in either case, for it is served in either case; names stay readable for development.
  minifySyntax: true,
  minifyWhitespace: true,
  minifyIdentifiers: !development,
  legalComments: "none",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  metafile: true,
  logLevel: "warning",
};

// Workers are bundled by themselves: what they shared with the page, they would load with it.
const bundles = await Promise.all([
  build({ ...shared, entryPoints: { editor: "editor.ts" }, splitting: true, plugins: [stylesInside, bareWorkers] }),
  build({ ...shared, entryPoints: { terminal: "terminal.ts" }, splitting: true, plugins: [stylesInside] }),
  build({ ...shared, entryPoints: { reference: "reference.ts" }, splitting: true, plugins: [stylesInside] }),
  build({
    ...shared,
    entryPoints: {
      "editor.worker": "monaco-editor/editor/editor.worker",
      "json.worker": "monaco-editor/language/json/json.worker",
    },
  }),
]);

const manifest = {};
for (const [path, { entryPoint }] of bundles.flatMap(({ metafile }) => Object.entries(metafile.outputs))) {
  const [, name] = /^(editor|editor\.worker|json\.worker|reference|terminal)-[A-Z0-9]{8}\.js$/.exec(basename(path)) ?? [];
  if (entryPoint !== undefined && name !== undefined) {
    manifest[`js/${name}.js`] = basename(path);
  }
}
mkdirSync(outdir, { recursive: true });

// Licences of what is inside, as their authors ask.
const licences = {
  editor: ["monaco-editor/LICENSE", "monaco-editor/ThirdPartyNotices.txt"],
  reference: ["swagger-ui-dist/LICENSE", "swagger-ui-dist/NOTICE"],
  terminal: ["@xterm/xterm/LICENSE", "@xterm/addon-fit/LICENSE"],
};
for (const [part, files] of Object.entries(licences)) {
  const notices = files.map((name) => readFileSync(join("node_modules", name), "utf8")).join("\n\n");
  writeFileSync(join(outdir, `${part}.LICENSES.txt`), notices);
}
writeFileSync(join(outdir, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);

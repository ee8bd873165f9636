/* Writes the chart library of the pages and the licences of what is in it: README.md beside this file says how. */
import { existsSync } from "node:fs";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const INTO = process.argv[2] ?? here("../../src/unisono/report/vendor");

/* Texts of Plotly's reference, which no page shows. Plotly leaves them out of what it publishes, too. */
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/.source;
const DESCRIPTION = new RegExp(
  String.raw`\bdescription:\s*(?:\[(?:${STRING}|[^\[\]'"])*\]\.join\(\s*(?:${STRING})\s*\)|${STRING})\s*(?:,|(?=\}))`,
  "g",
);

const lean = {
  name: "lean",
  setup(bundle) {
    bundle.onResolve({ filter: /^culori$/ }, () => ({ path: here("colours.mjs") }));
    bundle.onResolve({ filter: /components\/selections$|\/newselections$/ }, () => ({ path: here("selections.js") }));
    bundle.onLoad({ filter: /\.css$/ }, () => ({ contents: "" })); /* of maps */
    bundle.onLoad({ filter: /plotly\.js\/src\/.*\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(DESCRIPTION, ""),
    }));
  },
};

const about = async (name) => JSON.parse(await readFile(here(`node_modules/${name}/package.json`), "utf8"));
const { version } = await about("plotly.js");
const { metafile } = await build({
  absWorkingDir: here("."),
  entryPoints: ["plotly.js"],
  outfile: join(INTO, "plotly-unisono.min.js"),
  banner: { js: `/* plotly.js ${version}: scatter, bar and heatmap. Copyright Plotly, Inc. MIT license. */` },
  bundle: true,
  minify: true,
  legalComments: "none",
  format: "iife",
  globalName: "Plotly",
  target: "es2020",
  define: { global: "window", "define.amd": "false", "process.env.NODE_DEBUG": "false" },
  alias: { stream: "stream-browserify" },
  plugins: [lean],
  metafile: true,
  logLevel: "warning",
});

const inside = Object.values(metafile.outputs)[0].inputs;
const used = Object.keys(inside).filter((path) => inside[path].bytesInOutput > 0 && !path.endsWith(".css"));
const packages = new Set(used.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
let licences = "The licences of what plotly-unisono.min.js was bundled from.\n";
for (const name of [...packages].sort()) {
  const { version, license } = await about(name);
  const folder = here(`node_modules/${name}`);
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file && existsSync(join(folder, file)) ? await readFile(join(folder, file), "utf8") : license + "\n";
  licences += `\n---- ${name} ${version}, ${license}\n\n${text.trim()}\n`;
}
await writeFile(join(INTO, "LICENSES.txt"), licences.replaceAll("\r", ""));

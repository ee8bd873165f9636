/* Plotly with what our pages draw: scatter, bar and heatmap, error bars, shapes, hover, zoom and the buttons above.
   After src/core.js of Plotly, without what stands in no figure of ours: sliders, menus, images, selections, ... */
"use strict";
exports.version = require("plotly.js/src/version").version;
require("plotly.js/build/plotcss");

const Registry = require("plotly.js/src/registry");
const api = { ...require("plotly.js/src/plot_api/plot_api"), downloadImage: require("plotly.js/src/snapshot/download") };
for (const [name, fn] of Object.entries(api)) {
  if (name[0] !== "_") exports[name] = fn;
  Registry.register({ moduleType: "apiMethod", name, fn });
}
Registry.register([
  require("plotly.js/src/traces/scatter"),
  require("plotly.js/src/traces/bar"),
  require("plotly.js/src/traces/heatmap"),
  require("plotly.js/src/components/annotations"),
  require("plotly.js/src/components/shapes"),
  require("plotly.js/src/components/errorbars"),
  require("plotly.js/src/components/colorscale"),
  require("plotly.js/src/components/colorbar"),
  require("plotly.js/src/components/legend") /* after shapes, whose defaults it reads */,
  require("plotly.js/src/components/fx") /* after legend, likewise */,
  require("plotly.js/src/components/modebar"),
  require("plotly.js/src/locale-en"),
  require("plotly.js/src/locale-en-us"),
]);
const Plots = require("plotly.js/src/plots/plots");
exports.Plots = { resize: Plots.resize };

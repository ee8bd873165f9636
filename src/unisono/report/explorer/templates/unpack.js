/* Reads what blob.py wrote: a document and its columns as typed arrays. */
(() => {
  "use strict";
  const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

  function bytesOf(base64) {
    const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  explorer.unpack = async (base64) => {
    if (typeof DecompressionStream === "undefined") {
      throw new Error(explorer._("This browser is too old for the explorer: it needs Chromium 80, Firefox 113, Safari 16.4 or later."));
    }
    const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    const length = new DataView(buffer).getUint32(0, true);
    const document = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    const columns = {};
    for (const [name, [type, offset, count]] of Object.entries(document.columns)) {
      columns[name] = new ARRAYS[type](buffer, 4 + length + offset, count);
    }
    return { ...document, columns };
  };
})();

/* Points cannot be selected on our pages. */
"use strict";
const nothing = () => {};
module.exports = { prepSelect: nothing, clearOutline: nothing, selectOnClick: nothing, clearSelectionsCache: nothing };

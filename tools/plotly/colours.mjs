/* What Plotly takes of culori, without the thirty colour spaces that no page names. */
import { converter, formatHex, formatRgb, modeHsl, modeLrgb, modeRgb, useMode, wcagContrast, wcagLuminance } from "culori/fn";
[modeRgb, modeLrgb, modeHsl].forEach(useMode);
export { converter, formatHex, formatRgb, wcagContrast, wcagLuminance };

#pragma once

namespace quintet {

/// The style sheet of all pages: system fonts, light and dark as the reader's system is.
inline constexpr const char* style_sheet = R"css(
:root{color-scheme:light dark;--paper:#fdfdfc;--card:#fff;--ink:#1c2430;--faint:#667085;--rule:#e3e6ea;--grid:#eceef1;
--accent:#2456c4;--good:#12805c;--bad:#b42318;--warn:#b8860b;--blush:#fdf1ef;--land:#b9bdc3;
--c0:#2456c4;--c1:#d9480f;--c2:#0f8a63;--c3:#a72b8f;--c4:#b8860b;--c5:#0b8fa8;--c6:#c2255c;--c7:#5b6470}
@media(prefers-color-scheme:dark){:root{--paper:#12161c;--card:#191f27;--ink:#e4e8ee;--faint:#94a0b0;--rule:#2b333e;
--grid:#262d37;--accent:#7fa8ff;--good:#4cc38a;--bad:#ff8f84;--warn:#e3c14b;--blush:#2b1b1c;--land:#4a525e;
--c0:#7fa8ff;--c1:#ff9457;--c2:#4cc38a;--c3:#e28bd0;--c4:#e3c14b;--c5:#5fcbe0;--c6:#ff87ab;--c7:#a3adba}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:28px 28px 64px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header{border-bottom:1px solid var(--rule);padding-bottom:14px;margin-bottom:8px}
h1{font-size:26px;font-weight:650;line-height:1.25;margin:0}
h2{font-size:18px;font-weight:620;margin:28px 0 0}
a{color:var(--accent)}
.subtitle{color:var(--faint);margin:3px 0 0}
section{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:14px 18px;align-items:start}
section>*{grid-column:1/-1;min-width:0}
section>p{max-width:80ch;margin:0}
section>figure{grid-column:auto;max-width:720px;width:100%}
figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:12px 14px 10px}
figcaption{font-weight:600;margin-bottom:4px}
figure p{color:var(--faint);font-size:13px;margin:4px 0 0}
svg{display:block;width:100%;height:auto;font:14px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
svg text{fill:var(--ink)} svg .number{fill:var(--faint);font-size:13px;font-variant-numeric:tabular-nums}
.grid{stroke:var(--grid)} .tick{stroke:var(--faint)} .frame{fill:none;stroke:var(--rule)}
.curve{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.markers{fill:none;stroke-width:5.5;stroke-linecap:round} .dashed{stroke-dasharray:6 4}
.box{fill:none;stroke:var(--ink);stroke-width:1.3} .box.faint{stroke:var(--faint);stroke-dasharray:3 3}
.level{stroke:var(--ink);stroke-width:1.3}
.field{image-rendering:pixelated} .blank{fill:var(--land)}
.film{display:block;width:100%;height:auto;image-rendering:pixelated}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}
.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}
.status{display:flex;gap:10px;align-items:baseline;margin-top:10px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 18px;margin:2px 0 0}
dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
.warning{border-left:3px solid var(--warn);padding:1px 0 1px 12px;max-width:100ch}
.badge{border:1px solid;border-radius:99px;padding:1px 11px;font-size:13px;font-weight:600;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(45%,200px),1fr));gap:10px;margin-top:8px}
.tiles div{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:9px 13px 10px}
.tiles span{display:block;color:var(--faint);font-size:13px}
.tiles b{display:block;font-size:19px;font-weight:620;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tiles p{color:var(--bad);font-size:12.5px;line-height:1.35;margin:3px 0 0}
.tiles .doubt{border-color:var(--bad);background:var(--blush)}.tiles .doubt b{color:var(--bad)}
.scroll{overflow-x:auto}
summary{cursor:pointer;color:var(--accent)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
caption{caption-side:bottom;text-align:left;color:var(--faint);font-size:13px;padding-top:6px}
th,td{text-align:left;padding:5px 18px 5px 0;border-bottom:1px solid var(--rule);vertical-align:top}
th{font-weight:600}td.n,th.n{text-align:right}
table.facts td:first-child{color:var(--faint);white-space:nowrap}
table.facts td{overflow-wrap:anywhere}
.bars{display:grid;grid-template-columns:max-content minmax(120px,520px) max-content;gap:4px 14px;align-items:center;font-size:14px}
.bars i{display:block;height:13px;border-radius:3px;background:var(--c0);min-width:2px}
.bars i.inner{opacity:.45}
.bars i.rest{background:var(--rule)}
.bars span{color:var(--faint);font-variant-numeric:tabular-nums}
.note{color:var(--faint);font-size:13px}
pre{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:14px 16px;margin:0;overflow-x:auto;
font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.runs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:18px;margin-top:20px}
.run{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:16px 18px;min-width:0}
.run h2{margin:0 0 4px}.run>p{color:var(--faint);margin:0 0 8px}.run dl{font-size:13.5px;margin:0 0 10px}
.run dd{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}
.run .tiles{grid-template-columns:repeat(auto-fill,minmax(150px,1fr));margin-top:12px}
.run .tiles b{font-size:15px}
@media print{body{max-width:none;padding:0}figure{break-inside:avoid}}
)css";

}  // namespace quintet

"""The one stylesheet of our reports."""

STYLE = """\
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f5f6f8; --line: #d9dce1; --grid: #e7e9ed;
  --text: #1b1f24; --soft: #5a6270; --one: #0b5cad; --two: #6b7280;
  --good: #0f6b3c; --good-ground: #e6f4ec; --bad: #a3271f; --bad-ground: #fbebea; --note-ground: #fff6e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --panel: #1d2127; --line: #373d46; --grid: #2a2f37;
    --text: #e8eaed; --soft: #a4acb8; --one: #6db3f8; --two: #9aa3b0;
    --good: #6fd6a0; --good-ground: #17301f; --bad: #ff9d94; --bad-ground: #3a1d1b; --note-ground: #352b12;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; text-wrap: balance; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .75rem; }
header p { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem;
  margin: 1.5rem 0; }
.figures div { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem;
  padding: .75rem 1rem; }
.figures dt { color: var(--soft); font-size: .875rem; }
.figures dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
.figures dd.remark { font-size: .875rem; font-weight: 400; color: var(--soft); }
.note { background: var(--note-ground); border-left: .25rem solid var(--line); padding: .5rem .75rem;
  margin: 1rem 0; }
figure { margin: 0 0 3.5rem; }
figcaption { color: var(--soft); font-size: .875rem; margin: 0 0 .5rem; }
.key { display: inline-block; margin-right: 1rem; }
.key::before { content: ""; display: inline-block; width: 1.25rem; border-top: .2rem solid;
  margin-right: .4rem;
  vertical-align: middle; }
.key.one::before { color: var(--one); } .key.two::before { color: var(--two); border-top-style: dashed; }
.plot { position: relative; height: 17rem; margin: .5rem .75rem 0 3.25rem; }
.plot svg { width: 100%; height: 100%; display: block; overflow: visible; }
.plot span { position: absolute; font-size: .8rem; line-height: 1; color: var(--soft);
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.plot .y { right: 100%; margin-right: .5rem; transform: translateY(-50%); }
.plot .x { top: 100%; margin-top: .5rem; transform: translateX(-50%); }
.plot .name { top: 100%; left: 50%; margin-top: 1.6rem; transform: translateX(-50%); }
.grid { stroke: var(--grid); } .axis { stroke: var(--line); }
.grid, .axis, .series { vector-effect: non-scaling-stroke; }
.series { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
.series.one { stroke: var(--one); } .series.two { stroke: var(--two); stroke-dasharray: 5 4; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .5rem .75rem;
  align-items: center; }
.bars svg { width: 100%; height: 1.25rem; display: block; border-radius: .25rem; background: var(--panel); }
.bars .one { fill: var(--one); } .bars .two { fill: var(--two); }
.bars b { font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0;
  border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; }
th { color: var(--soft); font-weight: 600; }
.cards th, .cards td:first-child { white-space: nowrap; }
.pairs td { overflow-wrap: anywhere; }
.pairs thead { display: none; }
.pairs td:first-child { color: var(--soft); width: 34%; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.won td:first-child span, tr.lost td:first-child span { border-radius: .25rem; padding: .1rem .4rem; }
tr.won td:first-child span { background: var(--good-ground); color: var(--good); }
tr.lost td:first-child span { background: var(--bad-ground); color: var(--bad); }
details { margin: 1rem 0; } summary { cursor: pointer; color: var(--one); }
@media (max-width: 40rem) {
  main { padding: 1.25rem 1rem 3rem; }
  .figures { grid-template-columns: 1fr 1fr; gap: .5rem; }
  .figures div:last-child:nth-child(odd) { grid-column: 1 / -1; }
  .pairs td:first-child { width: 46%; }
  .bars { gap: .4rem .5rem; font-size: .875rem; }
  .figures div { padding: .6rem .75rem; } .figures dd { font-size: 1.35rem; }
  .cards thead { display: none; }
  .cards tr { display: block; border-bottom: 1px solid var(--line); padding: .6rem 0; }
  .cards td { display: grid; grid-template-columns: 5.5rem 1fr; border: 0; padding: .1rem 0;
  text-align: left; }
  .cards td::before { content: attr(data-name); color: var(--soft); }
  .cards td span { justify-self: start; }
}
@media print { main { max-width: none; } details > * { display: block; } }
"""

"""How the page looks, by day and by night."""

STYLE = """
:root {
  --ground: #f7f8fa; --paper: #ffffff; --ink: #22303c; --muted: #52606d; --grid: #e4e7eb;
  --edge: #9aa5b1; --pale: #f4f6f8;
  --good: #00704f; --good-ground: #e3f5ee; --bad: #b3261e; --bad-ground: #fdeceb; --link: #0b5cad;
  --s0: #b35900; --s1: #0072b2; --s2: #00805c; --s3: #8e4585; --s4: #555555; --s5: #a08000;
  color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12171c; --paper: #1b2229; --ink: #e6ebf0; --muted: #a7b3be; --grid: #2e3842;
  --edge: #5c6975; --pale: #232c35;
    --good: #58d6a6; --good-ground: #14342a; --bad: #ff8a80; --bad-ground: #3d1a18; --link: #7cb8f2;
    --s0: #ff9f45; --s1: #5ab4f0; --s2: #3fcf9f; --s3: #d58fcf; --s4: #b0b7bf; --s5: #e0c341;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 1.2rem; margin: 0 0 10px; }
h3 { font-size: 1rem; margin: 18px 0 6px; }
p { margin: 6px 0 10px; max-width: 78ch; }
.origin { color: var(--muted); font-size: .87rem; margin: 0 0 18px; max-width: none; }
section, .verdict { background: var(--paper); border: 1px solid var(--grid); border-radius: 10px;
  padding: 18px 20px; margin: 0 0 18px; }
.verdict { border-left: 6px solid var(--good); background: var(--good-ground); }
.verdict.bad { border-left-color: var(--bad); background: var(--bad-ground); }
.verdict strong.head { display: block; font-size: 1.2rem; color: var(--good); }
.verdict.bad strong.head { color: var(--bad); }
.verdict ul { margin: 6px 0 0; padding-left: 20px; }
.verdict p { margin-bottom: 0; }
figure { margin: 14px 0 4px; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { color: var(--muted); font-size: .92rem; max-width: 84ch; margin: 4px 0 10px; }
.pair { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(430px, 100%), 1fr));
  gap: 18px; align-items: start; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; margin: 8px 0 12px;
  font-variant-numeric: tabular-nums; }
th, td { padding: 5px 12px 5px 0; text-align: left; border-bottom: 1px solid var(--grid);
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
th.number, td.number { text-align: right; padding: 5px 0 5px 16px; }
td.number, .short { white-space: nowrap; }
th { vertical-align: bottom; }
tr.strong td { font-weight: 700; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 5px 18px; margin: 0; }
dt { color: var(--muted); font-weight: 600; }
dd { margin: 0; max-width: 84ch; overflow-wrap: anywhere; }
details { margin: 8px 0; }
summary { cursor: pointer; color: var(--link); }
code { font: .86em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
@media (max-width: 600px) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 8px; } }
@media print { body { background: #fff; } section, .verdict { break-inside: avoid; } }
"""

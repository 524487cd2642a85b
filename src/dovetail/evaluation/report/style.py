"""How a report looks: system fonts, dark on white, one column on a phone."""

STYLE = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:1.5rem 1.25rem 3rem;background:#fff;color:#1c2430;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
h1{font-size:1.9rem;line-height:1.2;margin:.2em 0;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.2rem 0 .8rem;padding-bottom:.3rem;border-bottom:1px solid #dde3ea}
.lead{font-size:1.12rem;max-width:46em;color:#37424f;overflow-wrap:anywhere}
.warning{padding:.6rem 1rem;background:#fff4e0;border-left:4px solid #b35c00}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.81rem;font-variant-numeric:tabular-nums}
.note{margin:.7rem 0;font-size:.84rem;color:#56616e;overflow-wrap:anywhere}
th,td{padding:.42rem .38rem;text-align:right;white-space:nowrap}
thead th{border-bottom:2px solid #1c2430;vertical-align:bottom;white-space:normal;font-weight:600}
th:first-child{text-align:left;position:sticky;left:0;background:#fff}
tbody th{font-weight:600;max-width:20rem;overflow:hidden;text-overflow:ellipsis}
tbody tr{border-bottom:1px solid #e8ecf1}
td.best{font-weight:700;color:#004b78;background:#e6f1f8}
tr.bound{font-style:italic;color:#56616e;border-top:2px solid #dde3ea}
.charts,.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));
gap:1.2rem 2rem;align-items:start}
.wide figure{margin-bottom:1.8rem}
figure{margin:0}
figcaption{font-weight:600;margin-bottom:.3rem}
img{width:100%;height:auto;display:block}
dl{display:grid;grid-template-columns:minmax(7rem,12rem) 1fr;gap:.4rem 1rem;margin:0;
font-size:.92rem}
dt{color:#56616e}
dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:2.5rem;color:#56616e;font-size:.85rem}
@media(max-width:600px){dl{grid-template-columns:1fr;gap:.1rem}dd{margin-bottom:.5rem}}
"""

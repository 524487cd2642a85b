"""A comparison as one HTML file that needs nothing else: table, charts, and what was assumed."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

from dovetail.domain.output import write_whole
from dovetail.domain.schedule import Schedule
from dovetail.domain.units import UNKNOWN, count, duration, factor, share
from dovetail.evaluation.comparison import Comparison, ComparisonRow
from dovetail.evaluation.report import charts, over_time
from dovetail.evaluation.report.page import definitions, figure, page, table
from dovetail.evaluation.report.table import COLUMNS, caption, estimates_told, grid
from dovetail.evaluation.report.who_pays import who_pays_section
from dovetail.evaluation.statistics import ratio_of_means


def write_report(
    comparison: Comparison, path: str | Path, schedules: Mapping[str, Schedule] | None = None
) -> None:
    """Write the report; with `schedules` (by label) it also shows utilisation over time."""
    text = report_html(comparison, schedules)
    write_whole(Path(path), lambda part: part.write_text(text, encoding="utf-8"))


def report_html(comparison: Comparison, schedules: Mapping[str, Schedule] | None = None) -> str:
    """The page. Every name in it comes from outside and is escaped where it is put in."""
    title = f"Scheduling {comparison.config['trace']}"
    body = [
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(headline(comparison))}</p>",
        "" if comparison.complete else "<p class='warning'>Interrupted: some runs are missing.</p>",
        f"</header><main>{_table(comparison)}{_who_pays(comparison)}",
        _charts(comparison, schedules or {}),
        f"<div class='columns'>{_facts(comparison)}{_assumptions(comparison)}</div></main>",
        f"<footer>Made by Dovetail {escape(str(comparison.config['version']))}.</footer>",
    ]
    return page(title, "".join(body))


def baseline(comparison: Comparison) -> ComparisonRow:
    """What others are measured against: FCFS if it was run, else the first policy."""
    found = [row for row in comparison.rows if row.policy.order == "fcfs"]
    return (found or list(comparison.rows))[0]


def headline(comparison: Comparison) -> str:
    """The answer in one or two sentences."""
    best, base = comparison.best("wait_mean"), baseline(comparison)
    wait, before = best.metrics["wait_mean"], base.metrics["wait_mean"]
    text = f"Jobs wait {duration(wait)} on average under {best.label}"
    if best is base:
        text += ", the shortest of all policies compared."
    elif wait > 0:
        text += (
            f", {factor(before / wait)} times less than under {base.label} ({duration(before)})."
        )
    else:
        text += f", and {duration(before)} under {base.label}."
    bound = comparison.bound.wait_mean
    if bound > 0:
        text += f" Not even a scheduler that knew the future could go below {duration(bound)}."
    return text


def _table(comparison: Comparison) -> str:
    base, several = baseline(comparison), len(comparison.rows[0].per_window["wait_mean"]) > 1
    extra = [f"{name} / bound" for name in ("wait", "JCT", "bsld")]
    extra += [f"wait / {base.label}"] if several else []
    titles = ["policy", *(column.title for column in COLUMNS), *extra]
    head = "".join(f"<th scope='col'>{escape(title)}</th>" for title in titles)
    *rows, (bound, last) = grid(comparison)
    body = ""
    if comparison.recorded is not None:
        (label, cells), *rows = rows
        texts = "".join(f"<td>{escape(cell.text)}</td>" for cell in cells)
        texts += f"<td>{UNKNOWN}</td>" * len(extra)
        body += f"<tr class='bound'><th scope='row'>{escape(label)}</th>{texts}</tr>"
    for row, (label, cells) in zip(comparison.rows, rows, strict=True):
        texts = "".join(
            f"<td class='best'>{escape(c.marked)}</td>" if c.best else f"<td>{escape(c.text)}</td>"
            for c in cells
        )
        more = [_over(row, key, comparison) for key in ("wait_mean", "jct_mean", "bsld_mean")]
        more += [_interval(row, base)] if several else []
        texts += "".join(f"<td>{escape(text)}</td>" for text in more)
        body += f"<tr><th scope='row'>{escape(label)}</th>{texts}</tr>"
    texts = "".join(f"<td>{escape(cell.text)}</td>" for cell in last)
    texts += f"<td>{UNKNOWN}</td>" * len(extra)
    body += f"<tr class='bound'><th scope='row'>{bound}</th>{texts}</tr>"
    note = " Intervals: 95 %, paired bootstrap over windows." if several else ""
    return (
        "<section><h2>All figures</h2>"
        f"{table('All figures', head, body)}"
        f"<p class='note'>{escape(caption(comparison) + note)}</p></section>"
    )


def _who_pays(comparison: Comparison) -> str:
    """Of the policy under which jobs wait least, against Slurm's order or the first policy."""
    best = comparison.best("wait_mean")
    if best.label == comparison.reference or not best.groups:
        return ""
    note = f"Waits under {comparison.reference} (before) and under {best.label}, by group of jobs."
    return who_pays_section("Who gains, who pays", note, best.groups)


def _over(row: ComparisonRow, metric: str, comparison: Comparison) -> str:
    bound = float(getattr(comparison.bound, metric))
    return f"{factor(row.metrics[metric] / bound)}×" if bound > 0 else UNKNOWN


def _interval(row: ComparisonRow, base: ComparisonRow) -> str:
    if row is base:
        return "1"
    ratio = ratio_of_means(row.per_window["wait_mean"], base.per_window["wait_mean"])
    return str(ratio)


def _charts(comparison: Comparison, schedules: Mapping[str, Schedule]) -> str:
    labels = ", ".join(row.label for row in comparison.rows)
    drawn = [
        ("Mean wait", charts.bars(comparison, "wait_mean", duration), "wait_mean"),
        ("Mean bounded slowdown", charts.bars(comparison, "bsld_mean", factor), "bsld_mean"),
        ("How long jobs wait", charts.waits(comparison), ""),
    ]
    if schedules:
        drawn.append(("GPUs in use over time", charts.utilisation(schedules), ""))
    best = comparison.best("wait_mean")
    if best.timeline is not None:
        title = f"Utilisation by partition under {best.label}"
        drawn.append((title, over_time.partitions(best.timeline), ""))
        drawn.append(("Queue wait over time", over_time.waits(comparison.rows), ""))
    text = ""
    for title, svg, metric in drawn:
        alt = f"{title} of {labels}"
        if metric:
            alt = f"{title} by policy; lowest: {comparison.best(metric).label}. Figures: see table"
        text += figure(title, svg, alt)
    return f"<section><h2>Charts</h2><div class='charts'>{text}</div></section>"


def _facts(comparison: Comparison) -> str:
    facts, run = comparison.trace_facts, comparison.trace_facts["run_seconds"]
    sizes = "; ".join(
        f"{size['gpus']} GPU: {share(size['jobs'])} of jobs, {share(size['gpu_time'])} of GPU time"
        for size in facts["sizes"]
    )
    offered = facts["offered_gpu_hours_per_hour"]
    gpus = comparison.config["cluster_gpus"]
    items = [
        ("Jobs", count(facts["jobs"])),
        ("Submitted over", duration(facts["span_seconds"])),
        ("GPU hours", count(round(facts["gpu_hours"]))),
        ("Offered load", UNKNOWN if offered is None else f"{share(offered / gpus)} of the cluster"),
        ("Run time", f"median {duration(run['p50'])}, 95 % under {duration(run['p95'])}"),
        ("Sizes", sizes),
        ("Users", count(facts["users"]) if facts["users"] else "not recorded"),
        *(("Note", note) for note in facts["notes"]),
    ]
    return f"<section><h2>The trace</h2>{definitions(items)}</section>"


def _assumptions(comparison: Comparison) -> str:
    config = comparison.config
    windows = "the whole trace, once per policy"
    if config["sequences"] is not None:
        windows = f"{config['sequences']} windows of {config['length']} jobs, each from idle"
    nodes, gpus = config["cluster_nodes"], config["cluster_gpus"]
    items = [
        ("Run times that the scheduler sees", estimates_told(config)),
        ("Cluster", f"{config['cluster']}: {count(nodes)} nodes, {count(gpus)} GPUs"),
        ("Placement", ", ".join(dict.fromkeys(row.policy.placement for row in comparison.rows))),
        ("Replayed", windows),
        ("Seed", str(config["seed"])),
        ("Version", str(config["version"])),
        ("Trace digest", config["trace_digest"]),
        ("Cluster digest", config["cluster_digest"]),
        ("Clairvoyant bound", "no schedule is below it; none may reach it"),
        ("bsld", "bounded slowdown: (wait + run) / run, runs under 10 s counted as 10 s"),
    ]
    return f"<section><h2>What was assumed</h2>{definitions(items)}</section>"

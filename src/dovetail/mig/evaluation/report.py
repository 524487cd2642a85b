"""A comparison on sliced GPUs as one HTML file: figures, a day in charts, and what was assumed.

write_mig_report(compare_mig(days, contenders), days[0], "report.html")
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from dovetail.domain.units import UNKNOWN, count, share
from dovetail.evaluation.report.page import definitions, figure, page, table
from dovetail.mig.evaluation import charts
from dovetail.mig.evaluation.columns import (
    COLUMNS,
    bound_cells,
    caption,
    cells,
    clusters_of,
    kilowatt_hours,
    minutes,
    plain,
)
from dovetail.mig.evaluation.comparison import MigComparison, MigRow, paired
from dovetail.mig.evaluation.history import CutHistory, busiest
from dovetail.mig.schedule import MigSchedule
from dovetail.mig.workload.jobs import MigWorkload

WINDOW = 2 * 3600.0
"""Seconds of the day that are shown job by job: a whole day would be a blur."""

MOST_LINES = 4
"""Of power over a day: more of them hide each other."""


def write_mig_report(comparison: MigComparison, day: MigWorkload, path: str | Path) -> None:
    """Write the page; `day` is the first of the comparison, and is shown in detail."""
    Path(path).write_text(mig_report_html(comparison, day), encoding="utf-8")


def mig_report_html(comparison: MigComparison, day: MigWorkload) -> str:
    """The page. Every name in it comes from outside and is escaped where it is put in."""
    config = comparison.config
    title = f"Sliced GPUs: {config['workload']}"
    warning = "" if comparison.complete else "<p class='warning'>Interrupted: runs are missing.</p>"
    return page(
        title,
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(headline(comparison))}</p>"
        f"{warning}</header><main>{_table(comparison)}{_bars(comparison)}{_day(comparison, day)}"
        f"<div class='columns'>{_meanings()}{_assumptions(comparison)}</div></main>"
        f"<footer>Made by Dovetail {escape(str(config['version']))}.</footer>",
    )


def headline(comparison: MigComparison) -> str:
    """The answer in a sentence or two."""
    best, first = comparison.best(), comparison.rows[0]
    text = (
        f"By energy and tardiness together, {best.label} is best: "
        f"{share(best.mean['late_share'])} of jobs end late, and the GPUs draw "
        f"{kilowatt_hours(best.mean['energy_kwh'])} kWh."
    )
    if best is not first:
        text += (
            f" Under {first.label} it is {share(first.mean['late_share'])} and "
            f"{kilowatt_hours(first.mean['energy_kwh'])} kWh."
        )
    bound = comparison.bound_of(best)["energy_kwh"]
    over = best.mean["energy_kwh"] / bound - 1.0 if bound > 0 else 0.0
    return f"{text} The energy of {best.label} is {share(over)} above the least possible."


def _table(comparison: MigComparison) -> str:
    first = comparison.rows[0]
    several = len(comparison.rows) > 1 and comparison.config["days_kept"] > 1
    titles = ["policy", *(column.title for column in COLUMNS), "energy / bound"]
    titles += [f"ET / {first.label}"] if several else []
    head = "".join(f"<th scope='col'>{escape(title)}</th>" for title in titles)
    body = ""
    for row, (label, line) in zip(comparison.rows, cells(comparison), strict=True):
        texts = "".join(
            f"<td class='best'>{escape(c.marked)}</td>" if c.best else f"<td>{escape(c.text)}</td>"
            for c in line
        )
        bound = comparison.bound_of(row)["energy_kwh"]
        more = [f"{row.mean['energy_kwh'] / bound:.3f}" if bound > 0 else UNKNOWN]
        more += [str(paired(row, first))] if several else []
        texts += "".join(f"<td>{escape(text)}</td>" for text in more)
        body += f"<tr><th scope='row'>{escape(label)}</th>{texts}</tr>"
    for label, texts_of in bound_cells(comparison):
        texts = "".join(f"<td>{escape(text)}</td>" for text in texts_of)
        texts += f"<td>{UNKNOWN}</td>" * (len(titles) - 1 - len(COLUMNS))
        body += f"<tr class='bound'><th scope='row'>{escape(label)}</th>{texts}</tr>"
    note = caption(comparison)
    if several:
        note += " Ratios of ET: paired by day, with 95 % intervals (bootstrap)."
    return (
        f"<section><h2>All figures</h2>{table('All figures', head, body)}"
        f"<p class='note'>{escape(note)}</p></section>"
    )


def _bars(comparison: MigComparison) -> str:
    text = ""
    for title, metric, write in (
        ("Jobs that end late", "late_share", share),
        ("Mean tardiness, minutes", "tardiness_mean", minutes),
        ("Energy, kWh", "energy_kwh", kilowatt_hours),
        ("Energy and tardiness (ET)", "energy_tardiness", plain),
    ):
        alt = f"{title}; lowest: {comparison.best(metric).label}. Figures: see table"
        text += figure(title, charts.bars(comparison, metric, write), alt)
    return f"<section><h2>Side by side</h2><div class='charts'>{text}</div></section>"


def _day(comparison: MigComparison, day: MigWorkload) -> str:
    """The first day again: power of the best, jobs of the very best, and how GPUs were cut."""
    ranked = sorted(comparison.rows, key=lambda row: row.mean["energy_tardiness"])
    played = {row.label: _play(row, day, comparison) for row in ranked[:MOST_LINES]}
    schedules = {label: schedule for label, (schedule, _) in played.items()}
    best = ranked[0].label
    schedule, cuts = played[best]
    first, last = busiest(schedule, WINDOW)
    left_out = len(ranked) - len(played)
    power = "Power over the first day" + (f" (the best {MOST_LINES})" if left_out > 0 else "")
    text = figure(power, charts.power_over_day(schedules), f"{power}: {', '.join(schedules)}")
    text += figure(
        f"Jobs on slices under {best}, around the moment when most jobs wait",
        charts.gantt(schedule, cuts, first, last),
        f"Which slice runs a job when, under {best}",
        "A bar is a job. Every GPU has a row for each of its memory slices; its label gives the "
        "compute slices of its instances at the left edge.",
    )
    for label, (run, history) in played.items():
        if run.repartitions > 0:
            end = float(run.trace.jobs.submit[0]) + run.span
            title = f"How GPUs are cut under {label} (compute slices of their instances)"
            text += figure(title, charts.configurations(history, end), title)
    return f"<section><h2>One day</h2><div class='wide'>{text}</div></section>"


def _play(
    row: MigRow, day: MigWorkload, comparison: MigComparison
) -> tuple[MigSchedule, CutHistory]:
    parts = row.contender.parts()
    cuts = CutHistory.of(parts.cluster, float(day.trace.jobs.submit[0]))
    config = comparison.config
    return parts.run(day, int(config["seed"]), cuts, str(config["estimates"])), cuts


def _meanings() -> str:
    items = [(column.title, column.about) for column in COLUMNS]
    items += [
        ("lower bound", "No schedule has less, however these GPUs are cut; none may reach it."),
        ("energy / bound", "1 would be the least energy that any schedule can take."),
    ]
    return f"<section><h2>What the columns mean</h2>{definitions(items)}</section>"


def _assumptions(comparison: MigComparison) -> str:
    config = comparison.config
    jobs = config["jobs"]
    items = [
        ("Workload", str(config["workload"])),
        *(("Note", note) for note in config["notes"]),
        ("Days", f"{config['days_kept']} of {config['days']}, seeds from {config['seed']} on"),
        ("Jobs a day", f"{count(min(jobs))} to {count(max(jobs))}"),
        *(("GPUs as cut at first", cluster) for cluster in clusters_of(comparison)),
        ("Who is next", "the waiting job with the earliest deadline, unless a placement passes it"),
        ("What policies are told of run times", str(config["estimates"])),
        ("Preemption", "never"),
        ("Weight a of energy in ET", f"{config['energy_weight']:.3g}"),
        ("Version", str(config["version"])),
    ]
    return f"<section><h2>What was assumed</h2>{definitions(items)}</section>"

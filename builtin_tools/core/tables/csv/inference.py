"""Types without loss: a column has a type only if every one of its values, written back from that type, is what stands
in the file.

The first rows say which type to try; the whole file says whether it holds. Where it does not, the values that stand in
the way say what to try next, or why the column is text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .looks import note
from .trials import Trial, Typed, next_trial

_CHUNK = 150  # columns checked in one statement
_OFFENDING = 60
Run = Callable[[str], list[tuple[Any, ...]]]


def infer(run: Run, columns: list[str], sample: list[list[str]]) -> tuple[int, list[Typed]]:
    """The exact number of rows and the type of each column.

    `columns` are SQL expressions of text, `sample` the first values of each that are there; `run` gives the rows of a
    SELECT over the whole table, which is named `rows` in it.
    """
    found: dict[int, Typed] = {}
    tried: dict[int, set[str]] = {position: set() for position in range(len(columns))}
    trials: dict[int, Trial] = {}
    for position, values in enumerate(sample):
        trial = next_trial(values, set())
        if trial is None:
            found[position] = Typed("VARCHAR", "@@", note(values, [], 0, 0))
        else:
            trials[position] = trial
    total = -1
    while trials or total < 0:
        total, results = _checked(run, columns, trials)
        failed = {}
        for position, (there, empties, right, extras) in results.items():
            typed = _settled(trials[position], there, right, extras)
            if typed is None:
                failed[position] = (there, there - right)
            else:
                typed.empties = empties
                found[position] = typed
        trials = _again(run, columns, sample, tried, trials, failed, found)
    return total, [found[position] for position in range(len(columns))]


def _settled(trial: Trial, there: int, right: int, extras: list[Any]) -> Typed | None:
    if there == 0:
        return Typed("VARCHAR", "@@", empty=True)
    return trial.settle(there, extras) if right == there else None


def _checked(run: Run, columns: list[str], trials: dict[int, Trial]) -> tuple[int, dict[int, tuple[int, int, int, list[Any]]]]:
    """One pass over the whole file. Counts by CASE, not by FILTER: for each filter the engine sets a whole row's vectors aside.

    Gives its rows, and for each column (values there, empty strings, values that hold, extras)."""
    total, results = 0, {}
    positions = sorted(trials)
    for chunk in range(0, max(1, len(positions)), _CHUNK):
        some = positions[chunk : chunk + _CHUNK]
        parts = ["count(*)"]
        for position in some:
            column, trial = f"nullif({columns[position]}, '')", trials[position]
            parts += [f"count({column})", f"count(CASE WHEN {columns[position]} = '' THEN 1 END)"]
            parts += [f"count(CASE WHEN {trial.condition.replace('@@', column)} THEN 1 END)"]
            parts += [extra.replace("@@", column) for extra in trial.extras]
        values = list(run(f"SELECT {', '.join(parts)} FROM rows")[0])
        total, at = values[0], 1
        for position in some:
            count = 3 + len(trials[position].extras)
            there, empties, right, *extras = values[at : at + count]
            results[position] = (there, empties, right, extras)
            at += count
    return total, results


def _again(
    run: Run,
    columns: list[str],
    sample: list[list[str]],
    tried: dict[int, set[str]],
    trials: dict[int, Trial],
    failed: dict[int, tuple[int, int]],
    found: dict[int, Typed],
) -> dict[int, Trial]:
    """For columns whose type did not hold: the type to try with the offending values in view, or text with its reason."""
    more: dict[int, Trial] = {}
    for position, (there, wrong) in failed.items():
        column, trial = columns[position], trials[position]
        tried[position].add(trial.key)
        condition = f"({trial.condition.replace('@@', column)})"
        rows = run(f"SELECT {column} FROM rows WHERE {column} <> '' AND NOT coalesce({condition}, false) LIMIT {_OFFENDING}")
        offending = [str(row[0]) for row in rows]
        following = next_trial(sample[position] + offending, tried[position])
        if following is None:
            found[position] = Typed("VARCHAR", "@@", note(sample[position], offending, wrong, there))
        else:
            more[position] = following
    return more

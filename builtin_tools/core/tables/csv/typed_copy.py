"""One pass over a large file: the types that its first rows promise, proved for every value while the copy is written.

Where a value breaks a promise the engine stops, nothing is kept, and the types are inferred by counting (inference.py).
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass

from ..engine import Engine, native
from ..engine_errors import told
from ..ingest_cache import COPY_OPTIONS
from ..sql_text import literal_path, quote_name, quote_text
from .looks import note
from .trials import ORDER_TO_PROVE, Trial, Typed, next_trial

_BROKEN = "a value is not what the first rows promise"


@dataclass
class Copied:
    """A typed copy: its rows, and what each column turned out to be."""

    rows: int
    typed: list[Typed]


def typed_copy(
    engine: Engine, scan: str, sample: list[list[str]], target: str, names: list[str], chosen: list[int]
) -> Copied | None:
    """Writes the `chosen` columns of the text relation `scan` (c0, c1, …) as typed Parquet; None where a promise broke.

    The types of the other columns are what their first values promise, without proof.

    Raises the engine's errors, those of a file that is not regular among them.
    """
    trials = [next_trial(values, set()) if values else None for values in sample]
    if any(_open(trials[position], sample[position]) for position in chosen):
        return None
    cells = [
        f"{_proved(f'c{position}', trials[position], sample[position])} AS {quote_name(names[position])}" for position in chosen
    ]
    try:
        rows = int(engine.rows(f"COPY (SELECT {', '.join(cells)} FROM ({scan})) TO {quote_text(target)} ({COPY_OPTIONS})")[0][0])
    except native().Error as problem:
        with contextlib.suppress(OSError):
            os.unlink(target)
        if _BROKEN in str(told(problem)["exception_message"]):
            return None
        raise
    return Copied(rows, _settled(engine, target, trials, sample, names, chosen))


def _open(trial: Trial | None, values: list[str]) -> bool:
    """Whether the first rows leave the type open, so that the whole column must be counted."""
    if trial is None:
        return False
    return trial.key.startswith(ORDER_TO_PROVE) or (
        trial.key == "DOUBLE" and all(value in ("nan", "inf", "-inf") for value in values)
    )


def _proved(column: str, trial: Trial | None, values: list[str]) -> str:
    """The value in its type; an error where the round trip does not give the text again."""
    if trial is None:
        return column if values else f"CASE WHEN {column} IS NULL THEN NULL ELSE error({quote_text(_BROKEN)}) END"
    condition, kind = trial.condition.replace("@@", column), _type_of(trial)
    if trial.key == "DOUBLE":
        condition = _double_condition(column, values)
    elif trial.key.startswith("DECIMAL"):
        condition = f"TRY_CAST({column} AS {kind})::VARCHAR = {column}"
    return f"CASE WHEN {column} IS NULL THEN NULL WHEN {condition} THEN TRY_CAST({column} AS {kind}) ELSE error({quote_text(_BROKEN)}) END"


def _type_of(trial: Trial) -> str:
    if trial.key.startswith(ORDER_TO_PROVE):
        return "VARCHAR"
    if trial.key.startswith("DECIMAL"):
        scale = int(trial.key.split()[1])
        return f"DECIMAL({18 if scale <= 9 else 38},{scale})"
    return "TIMESTAMP WITH TIME ZONE" if trial.key.startswith("TIMESTAMP WITH") else trial.key.split()[0]


def _double_condition(column: str, values: list[str]) -> str:
    """As inference does it, whole numbers are written with `.0` throughout or nowhere; the first rows say which."""
    back = f"TRY_CAST({column} AS DOUBLE)::VARCHAR"
    if all(re.search(r"[.en]", value) for value in values):
        return f"{back} = {column}"
    point = f"(contains({column}, '.') OR contains({column}, 'e') OR contains({column}, 'n'))"
    return f"({back} = CASE WHEN {point} THEN {column} ELSE {column} || '.0' END AND NOT suffix({column}, '.0'))"


def _settled(
    engine: Engine, target: str, trials: list[Trial | None], sample: list[list[str]], names: list[str], chosen: list[int]
) -> list[Typed]:
    typed = []
    for position, (trial, values, name) in enumerate(zip(trials, sample, names, strict=True)):
        if position not in chosen:
            typed.append(Typed(_type_of(trial) if trial else "VARCHAR", "@@"))
        elif trial is None:
            typed.append(Typed("VARCHAR", "@@", note(values, [], 0, 0), empty=not values))
        elif trial.key.startswith("DECIMAL"):
            scale = int(trial.key.split()[1])
            column = quote_name(name)
            longest = engine.rows(
                f"SELECT greatest(length(ltrim(min({column})::VARCHAR, '-')), length(ltrim(max({column})::VARCHAR, '-'))) "
                f"FROM read_parquet({literal_path(target)})"
            )[0][0]
            kind = f"DECIMAL({max(int(longest or 0) - 1, scale + 1)},{scale})"
            typed.append(Typed(kind, f"CAST(@@ AS {kind})"))
        else:
            kind = _type_of(trial)
            typed.append(Typed(kind, f"CAST(@@ AS {kind})"))
    return typed

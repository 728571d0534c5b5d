"""The fuzzer with two fixed seeds; scripts/fuzz runs it for as long as one likes with new ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.harness import ROOT
from tests.security_calls import Call, warm
from tests.security_inputs import VALID

SEEDS, SECONDS = ("fuzz-1", "fuzz-2"), 25


def test_whatever_is_sent_one_fair_answer_comes_in_time_and_nothing_outside_is_touched() -> None:
    running = []
    for seed in SEEDS:
        argv = [sys.executable, "-m", "tests.security_fuzz", "--seconds", str(SECONDS), "--seed", seed]
        running.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT))
    reports = []
    for one in running:
        output, errors = one.communicate(timeout=200)
        assert output, errors.decode("utf-8", "replace")[-3000:]
        reports.append(json.loads(output))
    for report in reports:
        print(f"{report['cases']} cases of seed {report['seed']}: {report['codes']}")
        assert report["faults"] == []
        assert report["cases"] > 20 and {name.split(" ")[0] for name in report["codes"]} == {"arguments", "sql", "file"}


def test_what_the_fuzzer_starts_from_is_valid(tmp_path: Path) -> None:
    directory = tmp_path / "artifacts"
    shutil.copytree(ROOT / "artifacts_demo", directory, ignore=shutil.ignore_patterns(".artifacts", "results"))
    answers = warm(directory, [Call(tool, json.dumps(asked)) for tool, asked in VALID])
    assert [answer.code for answer in answers] == ["ok"] * len(VALID), [answer.document for answer in answers if not answer.ok]

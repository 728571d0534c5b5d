"""The doctor tries every layer and says which hold; its exit status is 0 only where all do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from builtin_tools.core.kernel import landlock_version
from scripts.parts import security_doctor
from tests.harness import ROOT


def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "scripts.parts.security_doctor", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)


@pytest.mark.skipif(landlock_version() < 1, reason="this kernel has no Landlock")
def test_where_all_layers_hold_the_doctor_says_so_and_ends_with_0(tmp_path: Path) -> None:
    done = doctor(str(tmp_path))
    assert done.returncode == 0 and "FAIL" not in done.stdout and done.stdout.endswith("All layers hold.\n"), (
        done.stdout + done.stderr
    )
    for word in (
        "Landlock: version",
        "memory limit",
        "file size limit",
        "death with the parent",
        "engine lock",
        "SQL guard",
        "duckdb: 2",
        "Pango",
        "Hangul",
    ):
        assert word in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [".artifacts"] and list(
        (tmp_path / ".artifacts" / "tmp").iterdir()
    ) == []


def test_a_directory_that_is_none_ends_it_with_1(tmp_path: Path) -> None:
    done = doctor(str(tmp_path / "nowhere"))
    assert done.returncode == 1 and "FAIL  artifact directory" in done.stdout and "Traceback" not in done.stderr


def test_layers_that_do_nothing_are_found_out() -> None:
    names = ("fence_files", "limit_memory", "limit_files", "die_with_parent")
    broken = "".join(f"doctor.{name} = lambda *_: True\n" for name in names)
    program = (
        f"import sys\nfrom scripts.parts import security_doctor as doctor\n{broken}sys.argv = ['doctor']\nsys.exit(doctor.main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    for layer in ("Landlock", "memory limit", "file size limit", "death with the parent"):
        assert f"FAIL  {layer}" in done.stdout


def test_a_package_that_is_missing_is_told_and_costs_no_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security_doctor, "PACKAGES", ("no-such-package",))
    (finding,) = security_doctor.packages()
    assert not finding.holds and not finding.layer and "not installed" in finding.told

"""constraints.txt pins every package that the project and its tests install, direct and transitive."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.harness import ROOT


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def needed(name: str, extras: set[str]) -> set[str]:
    """The packages that a distribution with these extras requires, and those that they require."""
    found: set[str] = set()
    waiting = [(name, frozenset(extras))]
    seen = set()
    while waiting:
        wanted = waiting.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            requirements = distribution(wanted[0]).requires or []
        except PackageNotFoundError:
            continue  # it was found by a marker of another system
        for requirement in map(Requirement, requirements):
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in wanted[1] | {""}):
                found.add(canonicalize_name(requirement.name))
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return found - {canonicalize_name(name)}


def test_every_package_that_is_installed_for_the_project_is_pinned() -> None:
    assert sorted(needed("builtin-tools", {"all", "test"}) - pinned().keys()) == [], "run scripts/pin"


def test_the_pins_name_versions_and_nothing_else() -> None:
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line), line


def test_the_pins_agree_with_the_versions_that_the_project_names() -> None:
    named = re.findall(r'"([A-Za-z0-9._-]+)==([0-9.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert {name: pinned().get(canonicalize_name(name)) for name, _ in named} == dict(named)

"""Fixtures that any test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import Runner


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    """Runs tools as processes in a fresh artifact directory."""
    directory = tmp_path / "artifacts"
    directory.mkdir()
    return Runner(directory)

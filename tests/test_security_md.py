"""SECURITY.md names what there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "SECURITY.md").read_text()
NAMED = sorted(
    set(re.findall(r"`((?:\.ci|config|customers|payments|templates|tests)/[^`\s]*|[A-Za-z_.]+\.(?:lock|md))`", TEXT))
)
ROWS = [line for line in TEXT.splitlines() if line.startswith("|") and not line.startswith("|---")]


def test_it_names_much() -> None:
    assert len(NAMED) > 100


def test_what_it_names_exists() -> None:
    for name in NAMED:
        path = ROOT / name
        assert path.is_dir() if name.endswith("/") else path.is_file(), name


def test_every_path_in_it_was_understood() -> None:
    paths = {word for word in re.findall(r"`([^`\n]+)`", TEXT) if re.fullmatch(r"[\w./-]+/[\w./-]+\.\w+", word)}
    assert paths <= {*NAMED}


def test_every_test_that_it_names_has_tests() -> None:
    for name in NAMED:
        if "/test_" in name:
            assert re.search(r"^(async )?def test_", (ROOT / name).read_text(), re.M), name


@pytest.mark.parametrize("heading", ["### From", "## OWASP"])
def test_every_threat_is_shown_by_a_test(heading: str) -> None:
    """The last cell of each row in these tables."""
    sections = [part for part in re.split(r"^(?=##)", TEXT, flags=re.M) if part.startswith(heading)]
    assert sections
    for row in (line for part in sections for line in part.splitlines()[4:] if line.startswith("|")):
        assert "`tests/" in row.rsplit("|", 2)[1], row

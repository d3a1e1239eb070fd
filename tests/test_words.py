"""The words of code, pages and guides are those of the payments field and of Django."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Words that must not come back, in names, docstrings, comments, messages, templates and guides.
WORDS = (
    "whoever", "whomever", "lest", "told", "tells?", "telling", "in hand", "at hand", "goes on", "go on",
    "came to pass", "come to pass", "second person", "dossier", "verdict", "taker", "asleep", "rests", "stranger",
    "hears?", "heard", "what became", "becomes? of", "knows of", "of before", "by heart", "as known",
)  # fmt: skip
FORBIDDEN = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(WORDS)})(?![A-Za-z])", re.IGNORECASE)
SUFFIXES = {".py", ".html", ".md", ".js", ".css", ".sql", ".txt"}
ROOMS = ("config", "payments", "customers", "templates", "tests", "README.md", "CONTRIBUTING.md", "SECURITY.md")
# Modules that end in "ing" by the words of the field, of Python or of grammar.
TERMS = {
    "charging",
    "routing",
    "logging",
    "throttling",
    "rendering",
    "card_testing",
    "pending",
    "tampering",
    "rebinding",
}


def files_of(*rooms: str) -> Iterator[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *rooms]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return (ROOT / name for name in listed.splitlines() if (ROOT / name).is_file() and name != "tests/test_words.py")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_no_word_that_must_not_come_back(room: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files_of(room)
        if path.suffix in SUFFIXES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if FORBIDDEN.search(line.replace("_", " "))
    ]
    assert not found


def test_no_module_is_named_by_a_gerund() -> None:
    names = [path for path in files_of("config", "payments", "customers", "tests") if path.suffix == ".py"]
    found = [path for path in names if path.stem.endswith("ing") and path.stem.removeprefix("test_") not in TERMS]
    assert not [str(path.relative_to(ROOT)) for path in found]

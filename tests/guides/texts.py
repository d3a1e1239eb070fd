"""The guides as a reader has them: their texts, and the code that they show."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "templates" / "guides"
GUIDES = sorted(path.stem for path in FOLDER.glob("*.md"))
# What is held to the same rules.
TEXTS = {f"templates/guides/{name}.md": (FOLDER / f"{name}.md").read_text() for name in GUIDES} | {
    name: (ROOT / name).read_text() for name in ("README.md", "CONTRIBUTING.md")
}


@dataclass(frozen=True)
class Block:
    """A block of code, and the language that it says it is in."""

    language: str
    code: str


def blocks_of(name: str) -> list[Block]:
    """Return the blocks of code of a file in TEXTS, in order."""
    return [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```$", TEXTS[name], re.DOTALL | re.MULTILINE)]


def text_of(guide: str) -> str:
    return TEXTS[f"templates/guides/{guide}.md"]


def shown_json(code: str) -> Any:
    """Return what a block shows of a JSON answer; `…` in a place of its own stands for more members or elements."""
    return json.loads(re.sub(r",\s*…", "", code))


def differences(shown: Any, actual: Any, place: str = "") -> list[str]:
    """Return where `actual` is not as shown; `…` within a text stands for any characters."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        missing = [f"{place}.{name} is missing" for name in shown if name not in actual]
        pairs = [(f"{place}.{name}", shown[name], actual[name]) for name in shown if name in actual]
        return missing + [fault for at, one, other in pairs for fault in differences(one, other, at)]
    if isinstance(shown, list) and isinstance(actual, list) and len(shown) <= len(actual):
        pairs = [(f"{place}[{index}]", one, actual[index]) for index, one in enumerate(shown)]
        return [fault for at, one, other in pairs for fault in differences(one, other, at)]
    if isinstance(shown, str) and isinstance(actual, str):
        alike = re.fullmatch(".*".join(map(re.escape, shown.split("…"))), actual, re.DOTALL) is not None
    else:
        alike = (type(shown), shown) == (type(actual), actual)
    return [] if alike else [f"{place}: {shown!r} is shown, {actual!r} came"]

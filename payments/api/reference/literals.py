"""JSON values as literals of the languages of the samples."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Notation:
    """How a language writes objects, lists and constants. `member` has the places `name` and `value`."""

    brackets: str
    member: str
    indent: int = 4
    trailing_comma: bool = True
    true: str = "true"
    false: str = "false"
    null: str = "null"
    dollar: str = "$"


JSON = Notation("{}", '"{name}": {value}', indent=2, trailing_comma=False)
PYTHON = Notation("{}", '"{name}": {value}', true="True", false="False", null="None")
JAVASCRIPT = Notation("{}", "{name}: {value}", indent=2)
# A dollar sign in a double-quoted text of PHP begins a variable.
PHP = Notation("[]", '"{name}" => {value}', dollar=r"\$")


def literal(value: Any, notation: Notation, depth: int = 0) -> str:
    """Return `value` in the notation of a language; `depth` is how many steps its last line is indented."""
    if isinstance(value, Mapping):
        members = [
            notation.member.format(name=name, value=literal(one, notation, depth + 1)) for name, one in value.items()
        ]
        return _block(members, notation.brackets, notation, depth)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _block([literal(one, notation, depth + 1) for one in value], "[]", notation, depth)
    for constant, word in ((True, notation.true), (False, notation.false), (None, notation.null)):
        if value is constant:
            return word
    return json.dumps(value, ensure_ascii=False).replace("$", notation.dollar)


def _block(lines: Sequence[str], brackets: str, notation: Notation, depth: int) -> str:
    if not lines:
        return brackets
    margin = " " * notation.indent * (depth + 1)
    comma = "," if notation.trailing_comma else ""
    inner = ",\n".join(margin + line for line in lines)
    return f"{brackets[0]}\n{inner}{comma}\n{' ' * notation.indent * depth}{brackets[1]}"

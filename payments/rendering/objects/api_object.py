"""How an object of the API is declared: what it shows of a row, its JSON Schema and its example."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

Schema = dict[str, Any]
Shown = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """A member with the description `text` and the `form` of its value, or of each of `many`.

    A form is a JSON Schema, another object, or the name of one that `payments.api.schema.responses.NAMED` describes;
    `inlined`, the members of that object stand in place of this one.

    The value is what `read` says, an attribute of the row (default: that of the member's name, or the constant of the
    schema), an expression that begins with one (`order.get('locale')`), or a function of the row, which takes a call
    for each row; `convert` makes the value of it, unless that is None and may be. A member that is
    not `required` is left out where it is None, and so it is in the example.
    """

    form: "Schema | ApiObject | str"
    text: str
    example: Any = None
    required: bool = True
    read: str | Callable[[Any], Any] = ""
    convert: Callable[[Any], Any] | None = None
    many: bool = False
    nullable: bool = False
    inlined: bool = False

    @property
    def constant(self) -> Any:
        """Return the only value that the schema allows, or None."""
        return self.form.get("const") if isinstance(self.form, dict) else None


def none_if_empty(value: Any) -> Any:
    return value or None


class ApiObject:
    """An object `name` with the description `text`, the members of `base` and its own; `declared` are all of them."""

    declared: ClassVar[list["ApiObject"]] = []

    def __init__(self, name: str, text: str, base: "ApiObject | None" = None, /, **members: Member) -> None:
        self.name, self.text = name, text
        self.members: dict[str, Member] = (base.members if base else {}) | members
        self.declared.append(self)

    @cached_property
    def render(self) -> Callable[[Any], Shown]:
        """Return the function that returns what the API shows of a row.

        It is compiled from its text, as those of `dataclasses` are: one that reads a table of members at each call
        takes a third longer. The text holds names of members and attributes, which are ours, and nothing that anybody
        sent.
        """
        known: dict[str, Any] = {}
        parts = [_part(name, each, f"_{number}", known) for number, (name, each) in enumerate(self.members.items())]
        optional = [name for name, each in self.members.items() if not each.required]
        absent = [f"    if shown[{name!r}] is None: del shown[{name!r}]" for name in optional]
        text = ", ".join(parts)
        # What several members are read through is read once.
        through = {owner for owner, count in Counter(re.findall(r"\brow\.(\w+)\.", text)).items() if count > 1}
        text = re.sub(r"\brow\.(\w+)", lambda found: f"_{found[1]}" if found[1] in through else found[0], text)
        owners = [f"    _{owner} = row.{owner}" for owner in sorted(through)]
        lines = ["def show(row):", *owners, f"    shown = {{{text}}}", *absent, "    return shown"]
        exec("\n".join(lines), known)  # nosec B102
        return cast(Callable[[Any], Shown], known["show"])

    @property
    def example(self) -> Shown:
        """Return the example of the document."""
        found = {name: each.example if each.constant is None else each.constant for name, each in self.members.items()}
        shown = {name for name, each in self.members.items() if each.required and not each.inlined}
        return {name: value for name, value in found.items() if value is not None or name in shown}


def _part(name: str, member: Member, suffix: str, known: dict[str, Any]) -> str:
    """Return the text of a member in a dictionary; add to `known` the functions that it calls."""
    if member.constant is not None:
        return f"{name!r}: {member.constant!r}"
    if member.inlined:
        return f"**row.{name}"
    value = f"read{suffix}(row)" if callable(member.read) else f"row.{member.read or name}"
    known |= {f"read{suffix}": member.read, f"convert{suffix}": member.convert}
    if member.convert is none_if_empty:
        value = f"{value} or None"
    elif member.convert and (member.nullable or not member.required):
        value = f"None if (value := {value}) is None else convert{suffix}(value)"
    elif member.convert:
        value = f"convert{suffix}({value})"
    return f"{name!r}: {value}"

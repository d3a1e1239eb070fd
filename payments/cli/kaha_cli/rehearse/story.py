"""What happened to the buyers whom a shop served wrongly, each a story in time order: as text, JSON or one page."""

from dataclasses import dataclass
from html import escape
from typing import Any

from kaha_cli.rehearse.rules import Wrong

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rehearsal of a shop</title>
<style>body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
th {{ text-align: left; vertical-align: top; padding-right: 1.5rem }}</style>
<h1>{summary}</h1>{parts}<p>{note}</p></html>
"""
PART = """<h2>{title}</h2><p>Order {reference}</p><p><strong>To change:</strong> {advice}</p>
<table>{rows}</table><p>Again: <code>kaha rehearse … {replay}</code></p>"""


@dataclass(frozen=True)
class Report:
    """How the rehearsal ended, for so many buyers and orders; `note` says what it could not play."""

    seed: int
    buyers: int
    orders: int
    payments: int
    wrong: list[Wrong]
    note: str

    def text(self) -> list[str]:
        """Return the result, with the story of the first that does not hold, and the others a line each."""
        if not self.wrong:
            return [self._summary(), self.note]
        first, *others = [each.shown() for each in self.wrong]
        story = [f"  {who:6}  {what}" for who, what in first["lines"]]
        also = ["", "Also:", *(f"  {each['title']}" for each in others)] if others else []
        again = ["", f"To change: {first['advice']}", f"To play exactly this again: {first['replay']}"]
        return [
            self._summary(),
            "",
            first["title"],
            f"Order {first['reference'] or 'none'}",
            "",
            *story,
            *again,
            *also,
            "",
            self.note,
        ]

    def json(self) -> dict[str, Any]:
        """Return the result for programs."""
        wrong = [each.shown() for each in self.wrong]
        return {"object": "rehearsal", "sound": self.is_sound} | vars(self) | {"wrong": wrong}

    def html(self) -> str:
        """Return the result as one page that needs nothing else."""
        parts = ""
        for shown in (each.shown() for each in self.wrong):
            rows = "".join(f"<tr><th>{escape(who)}<td>{escape(what)}" for who, what in shown["lines"])
            parts += PART.format(**{name: escape(str(value)) for name, value in shown.items()} | {"rows": rows})
        return PAGE.format(summary=self._summary(), parts=parts, note=escape(self.note))

    @property
    def is_sound(self) -> bool:
        """Whether an order was begun, and nothing is wrong."""
        return not self.wrong and self.orders > 0

    def _summary(self) -> str:
        wrong = len({each.buyer for each in self.wrong})
        end = f"{wrong} of them served wrongly." if wrong else "each order is as kaha's books say."
        if not self.orders:
            end = "nothing was rehearsed."
        return f"{self.buyers} buyers, {self.orders} orders, {self.payments} payments, seed {self.seed}: {end}"

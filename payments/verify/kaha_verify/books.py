"""The replay of an export of the ledger, and the proof of one transaction."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from kaha_verify.heads import Fault, Head, Key, Tree, leaf_hash, moment_of, read_head, root_by_inclusion

FORMAT = "kaha books 1"
VERSION = "kaha leaf 1"
# A line of an export: what the leaf shows is from `line` to `created_at`; the rest is in its reference.
COLUMNS = (
    *("id", "line", "account", "kind", "amount", "currency", "livemode", "created_at"),
    *("merchant_id", "charge_id", "payout_id", "attempt_id", "settlement_id"),
)
LINE, ACCOUNT, AMOUNT, CURRENCY, LIVEMODE, CREATED_AT, MERCHANT = 1, 2, 4, 5, 6, 7, 8
OPEN = slice(LINE, MERCHANT)
MEMO = {"provider_hold", "merchant_hold"}
# What was written so long before a head is in its log.
LATE = timedelta(hours=2)


def content_of(salt: bytes, opening: str, lines: Sequence[Sequence[Any]]) -> bytes:
    """Return the content of a leaf: a salted reference, and what each line moved."""
    reference = hashlib.sha256(salt + opening.encode()).hexdigest()
    return _json([VERSION, reference, [line[OPEN] for line in lines]]).encode()


def opening_of(journal: str, lines: Sequence[Sequence[Any]]) -> str:
    """Return what the reference of a leaf stands for."""
    return _json([journal, [[line[0], *line[MERCHANT:]] for line in lines]])


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


@dataclass
class Books:
    """An export while it is replayed against signed heads, the smallest first."""

    heads: Sequence[Head]
    tree: Tree = field(default_factory=Tree)
    faults: list[str] = field(default_factory=list)
    sums: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    journals: set[str] = field(default_factory=set)
    lines: int = 0
    new: int = 0

    def replay(self, rows: Iterator[dict[str, Any]]) -> None:
        """Read the whole export; what does not hold is in `faults` afterwards."""
        kept: dict[tuple[Any, ...], int] = {}
        header, ended = next(rows, {}), False
        if header.get("format") != FORMAT or header.get("columns") != list(COLUMNS):
            raise Fault(f"The export does not begin as one of {FORMAT!r} does.")
        self._compare_roots()
        for row in rows:
            if "journal" in row:
                self._read(row)
            elif "balance" in row:
                *of, amount = row["balance"]
                kept[tuple(of)] = amount
            else:
                ended = row == {"end": len(self.journals)}
        if not ended:
            self.faults.append("The export is cut off.")
        for head in self.heads:
            if head.size > self.tree.size:
                self.faults.append(f"The log ends after {self.tree.size:,} leaves, and {head} has more.")
        self._compare_balances(kept)

    def _read(self, row: dict[str, Any]) -> None:
        journal, number, lines = row["journal"], row["leaf"], row["lines"]
        where = f"journal {journal}" if number is None else f"leaf {number} (journal {journal})"
        if journal in self.journals:
            self.faults.append(f"The {where} is there twice.")
        self.journals.add(journal)
        self.lines += len(lines)
        self.faults += [f"The {where} {fault}" for fault in _faults_of(lines)]
        for line in lines:
            self.sums[line[MERCHANT], line[LIVEMODE], line[CURRENCY], line[ACCOUNT]] += line[AMOUNT]
        self.faults += [f"The {where} {fault}" for fault in self._unlogged(number, lines)]
        if number is None:
            self.new += 1
            return
        if number != self.tree.size:
            self.faults.append(f"The {where} stands where leaf {self.tree.size} should.")
        leaf = leaf_hash(content_of(bytes.fromhex(row["salt"]), opening_of(journal, lines), lines))
        if leaf.hex() != row["hash"]:
            self.faults.append(f"The {where} is not what was logged: a line was changed, removed or inserted.")
        self.tree.add(leaf)
        self._compare_roots()

    def _unlogged(self, number: int | None, lines: Iterable[Sequence[Any]]) -> Iterator[str]:
        """Yield how lines are older than a head that does not have them."""
        oldest = min((moment_of(line[CREATED_AT]) for line in lines), default=None)
        for head in self.heads:
            if oldest and (number is None or number >= head.size) and oldest < head.signed_at - LATE:
                yield f"is of {oldest:%Y-%m-%d %H:%M:%S} UTC, and not in {head}."
                return

    def _compare_roots(self) -> None:
        for head in self.heads:
            if head.size == self.tree.size and head.root != self.tree.root():
                self.faults.append(f"The log is not that of {head}: something was changed, removed or inserted.")

    def _compare_balances(self, kept: dict[tuple[Any, ...], int]) -> None:
        for of in sorted({*kept, *self.sums}, key=str):
            if (summed := self.sums.get(of, 0)) != (balance := kept.get(of, 0)):
                merchant, livemode, currency, account = of
                mode = "live" if livemode else "test"
                self.faults.append(
                    f"{account} of merchant {merchant} in {mode} mode: its lines sum to {currency} {summed}, "
                    f"and its balance is {balance}."
                )


def _faults_of(lines: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield what is wrong with the lines of one journal by themselves."""
    if not lines:
        yield "has no lines any more."
        return
    if [line[LINE] for line in lines] != list(range(1, len(lines) + 1)):
        yield "lacks a line, or has one twice."
    if len({(line[MERCHANT], line[LIVEMODE], line[CURRENCY]) for line in lines}) > 1:
        yield "is of more than one merchant, mode or currency."
    for which, are_memo in (("lines", False), ("memo lines", True)):
        if total := sum(line[AMOUNT] for line in lines if (line[ACCOUNT] in MEMO) == are_memo):
            yield f"does not balance: its {which} sum to {total}."


def check_books(export: Iterable[str], notes: Sequence[str], keys: Sequence[Key]) -> Books:
    """Return the books after they were replayed; raise Fault where heads or export cannot be read."""
    heads = sorted((read_head(note, keys) for note in notes), key=lambda head: (head.size, head.signed_at))
    books = Books(heads)
    try:
        books.replay(json.loads(line) for line in export)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise Fault(f"The export is damaged after {len(books.journals):,} journals ({error}).") from None
    return books


def check_proof(proof: dict[str, Any], keys: Sequence[Key]) -> Head:
    """Return the head that the leaf of a proof of /v2/proofs is in; raise Fault unless it is."""
    head = read_head(proof["head"], keys)
    path = [base64.b64decode(each) for each in proof["path"]]
    if root_by_inclusion(proof["leaf"], head.size, leaf_hash(proof["content"].encode()), path) != head.root:
        raise Fault(f"Leaf {proof['leaf']} is not in {head}.")
    salted = bytes.fromhex(proof["salt"]) + proof["opening"].encode()
    if hashlib.sha256(salted).hexdigest() != json.loads(proof["content"])[1]:
        raise Fault("The reference of the leaf is not to this transaction.")
    ids = [line[0].replace("-", "") for line in json.loads(proof["opening"])[1]]
    if proof["transaction"].partition("_")[2] not in ids:
        raise Fault("The leaf is of another transaction.")
    return head

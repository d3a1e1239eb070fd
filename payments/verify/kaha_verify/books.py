"""The replay of an export of the ledger, and the proof of one transaction."""

import base64
import hashlib
import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from kaha_verify.heads import SKEW, Fault, Head, Key, Tree, moment_of, read_head, read_heads, root_by_inclusion

FORMAT, VERSION = "kaha books 1", "kaha leaf 1"
# A line of an export: what the leaf shows is from `line` to `created_at`; the rest is in its reference.
COLUMNS = (
    *("id", "line", "account", "kind", "amount", "currency", "livemode", "created_at"),
    *("merchant_id", "charge_id", "payout_id", "attempt_id", "settlement_id"),
)
LINE, ACCOUNT, AMOUNT, CURRENCY, LIVEMODE, CREATED_AT, MERCHANT = 1, 2, 4, 5, 6, 7, 8
OPEN = slice(LINE, MERCHANT)
MEMO = {"provider_hold", "merchant_hold"}
LATE = timedelta(hours=2)  # What was written so long before a head is in its log.
FAULTS_KEPT = 1_000
ODD = (LookupError, TypeError, AttributeError)
UNREADABLE = (*ODD, ValueError, ArithmeticError, RecursionError)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise Fault(f"One object has a key twice: {', '.join(key for key, _ in pairs)}.")
    return found


_json = json.JSONEncoder(separators=(",", ":")).encode
# Of a key that an object has twice some programs read the first, and some the last.
read_json = json.JSONDecoder(object_pairs_hook=_object).decode


def reason_of(error: Exception) -> str:
    """Return why a file cannot be read, in words for an auditor: those of Python about types are none."""
    return "something is missing, or of another type than it should be" if isinstance(error, ODD) else str(error)


def leaf_of(journal: str, salt: bytes, lines: Sequence[Sequence[Any]]) -> bytes:
    """Return the hash of a leaf: of a salted reference, and of what each line moved."""
    opening = _json([journal, [[line[0], *line[MERCHANT:]] for line in lines]])
    reference = hashlib.sha256(salt + opening.encode()).hexdigest()
    return hashlib.sha256(b"\x00" + _json([VERSION, reference, [line[OPEN] for line in lines]]).encode()).digest()


@dataclass
class Books:
    """An export while it is replayed against signed heads, the smallest first: `faults` are the first of `found`."""

    heads: Sequence[Head]
    tree: Tree = field(default_factory=Tree)
    faults: list[str] = field(default_factory=list)
    sums: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    kept: dict[tuple[Any, ...], int] = field(default_factory=dict)
    journals: set[str] = field(default_factory=set)
    found = lines = expected = 0
    ended = False

    def replay(self, rows: Iterator[dict[str, Any]]) -> None:
        """Read the whole export, and note what does not hold."""
        header = next(rows, {})
        if header.get("format") != FORMAT or header.get("columns") != list(COLUMNS):
            raise Fault(f"The export does not begin as one of {FORMAT!r} does.")
        self.made_at, self.sizes = moment_of(header["made_at"]), [head.size for head in self.heads]
        if self.made_at > datetime.now(UTC) + SKEW:
            self._note(f"The export says that it was made at {self.made_at}, which is to come.")
        self._compare_roots()
        for row in rows:
            self._read(row)
        if not self.ended:
            self._note("The export is cut off.")
        for head in self.heads[bisect_right(self.sizes, self.tree.size) :]:
            self._note(f"The log ends after {self.tree.size:,} leaves, and {head} has more.")
        self._compare_balances()

    def _note(self, fault: str) -> None:
        self.found += 1
        self.faults += [fault] if self.found <= FAULTS_KEPT else []

    def _read(self, row: dict[str, Any]) -> None:
        if self.ended:
            self._note("A row comes after the end of the export.")
        if "journal" in row:
            self._read_journal(row["journal"], row["leaf"], row["lines"], row)
        elif "balance" in row:
            *of, amount = row["balance"]
            if self.kept.setdefault(tuple(of), amount) != amount:
                self._note(f"Two balances of {of} contradict each other.")
        else:
            self.ended = type(row["end"]) is int and row["end"] == len(self.journals)

    def _read_journal(self, journal: str, number: int | None, lines: Sequence[Any], row: dict[str, Any]) -> None:
        where = f"journal {journal}" if number is None else f"leaf {number} (journal {journal})"
        if journal in self.journals:
            self._note(f"The {where} is there twice.")
        self.journals.add(journal)
        self.lines += len(lines)
        for line in lines:
            self.sums[line[MERCHANT], line[LIVEMODE], line[CURRENCY], line[ACCOUNT]] += line[AMOUNT]
        for fault in (*_faults_of(lines), *self._faults_of_time(journal, number, lines)):
            self._note(f"The {where} {fault}")
        if number is None:
            return
        if number != self.expected:
            self._note(f"The {where} stands where leaf {self.expected} should.")
        self.expected = number + 1
        leaf = leaf_of(journal, bytes.fromhex(row["salt"]), lines)
        if leaf.hex() != row["hash"]:
            self._note(f"The {where} is not what was logged: a line was changed, removed or inserted.")
        self.tree.add(leaf)
        self._compare_roots()

    def _faults_of_time(self, journal: str, number: int | None, lines: Sequence[Any]) -> Iterator[str]:
        """Yield how lines are older than a head without them, or later than one with them, the export or an ID."""
        # The heads from `place` on have the leaf.
        place = len(self.heads) if number is None else bisect_right(self.sizes, number)
        latest = min([self.made_at, *(head.signed_at for head in self.heads[place : place + 1])]) + SKEW
        for line in lines:
            moment = moment_of(line[CREATED_AT])
            if place and moment < self.heads[place - 1].signed_at - LATE:
                yield f"is of {moment}, and not in {self.heads[place - 1]}."
            if moment > latest:
                yield f"is of {moment}, which is later than the export or a head that has it."
            for uuid in (UUID(journal), UUID(line[0])):
                # The time that merchants see is that of the ID.
                if uuid.version != 7 or abs((uuid.int >> 80) / 1_000 - moment.timestamp()) > LATE.total_seconds():
                    yield f"is of {moment}, and its ID {uuid} of another time."

    def _compare_roots(self) -> None:
        first, end = (search(self.sizes, self.tree.size) for search in (bisect_left, bisect_right))
        for head in self.heads[first:end]:
            if head.root != self.tree.root():
                self._note(f"The log is not that of {head}: something was changed, removed or inserted.")

    def _compare_balances(self) -> None:
        for of in sorted({*self.kept, *self.sums}, key=str):
            if (summed := self.sums[of]) != (balance := self.kept.get(of, 0)):
                merchant, livemode, currency, account = of
                where = f"{account} of merchant {merchant} in {'live' if livemode else 'test'} mode"
                self._note(f"{where}: its lines sum to {currency} {summed}, and its balance is {balance}.")


def _faults_of(lines: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield what is wrong with the lines of one journal by themselves."""
    if not lines or [line[LINE] for line in lines] != list(range(1, len(lines) + 1)):
        yield "lacks lines, or has one twice."
    if len({(line[MERCHANT], line[LIVEMODE], line[CURRENCY]) for line in lines}) > 1:
        yield "is of more than one merchant, mode or currency."
    for which, are_memo in (("lines", False), ("memo lines", True)):
        if total := sum(line[AMOUNT] for line in lines if (line[ACCOUNT] in MEMO) == are_memo):
            yield f"does not balance: its {which} sum to {total}."


def check_books(export: Iterable[str], notes: Sequence[str], keys: Sequence[Key]) -> Books:
    """Return the books after they were replayed; raise Fault where heads or export cannot be read."""
    books = Books(read_heads(notes, keys))
    try:
        books.replay(read_json(line) for line in export)
    except UNREADABLE as error:
        raise Fault(f"The export is damaged after {len(books.journals):,} journals ({reason_of(error)}).") from None
    return books


def check_proof(proof: dict[str, Any], keys: Sequence[Key]) -> tuple[Head, Sequence[Any]]:
    """Return the head of a proof of /v2/proofs, and what its line shows; raise Fault where it does not hold."""
    head = read_head(proof["head"], keys)
    if type(proof["leaf"]) is not int:
        raise TypeError  # Python takes true and 1.0 for 1.
    leaf, path = proof["content"].encode(), [base64.b64decode(each) for each in proof["path"]]
    if root_by_inclusion(proof["leaf"], head.size, hashlib.sha256(b"\x00" + leaf).digest(), path) != head.root:
        raise Fault(f"Leaf {proof['leaf']} is not in {head}.")
    version, reference, lines = read_json(proof["content"])
    ids = [line[0].replace("-", "") for line in read_json(proof["opening"])[1]]
    salted = bytes.fromhex(proof["salt"]) + proof["opening"].encode()
    if (version, reference, len(lines)) != (VERSION, hashlib.sha256(salted).hexdigest(), len(ids)):
        raise Fault("The leaf is of another version, or its reference is not to this transaction.")
    if (own := proof["transaction"].partition("_")[2]) not in ids:
        raise Fault("The leaf is of another transaction.")
    return head, lines[ids.index(own)]

"""The command line."""

import argparse
import base64
import sys
from pathlib import Path

import kaha_verify
from kaha_verify.books import UNREADABLE, check_books, check_proof, read_json, reason_of
from kaha_verify.heads import Fault, check_consistency, read_heads, read_key

FAULTS_SHOWN = 20
ENCODING = "utf-8-sig"  # Editors put a mark before UTF-8.


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kaha-verify", description=kaha_verify.__doc__)
    parser.add_argument("--version", action="version", version=f"%(prog)s {kaha_verify.VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    books = commands.add_parser("books", help="check an export of the ledger against signed heads")
    books.add_argument("export", type=Path, help="the file that manage.py export_books wrote")
    books.add_argument("--head", type=Path, nargs="+", required=True, help="files of signed heads, also those kept")
    proof = commands.add_parser("proof", help="check the proof of a balance transaction")
    proof.add_argument("proof", type=Path, help="the answer of GET /v2/proofs/{id}")
    heads = commands.add_parser("heads", help="compare two heads")
    heads.add_argument("old", type=Path)
    heads.add_argument("new", type=Path)
    heads.add_argument("--consistency", type=Path, help="the answer of /transparency/consistency/OLD/NEW")
    for each in (books, proof, heads):
        each.add_argument("--key", nargs="+", required=True, help="public keys that you got and keep by yourself")
    return parser


def run(options: argparse.Namespace) -> str:
    """Return what holds; raise Fault where something does not."""
    keys = [read_key(text) for text in options.key]
    if options.command == "proof":
        proof = read_json(options.proof.read_text(ENCODING))
        head, (_, account, kind, amount, currency, *_) = check_proof(proof, keys)
        moved = f"It moved {currency} {amount} on {account} ({kind})."
        return f"{proof['transaction']} is in leaf {proof['leaf']} of {head}. {moved}"
    if options.command == "heads":
        old, new = read_heads([path.read_text(ENCODING) for path in (options.old, options.new)], keys)
        found = read_json(options.consistency.read_text(ENCODING))["proof"] if options.consistency else []
        check_consistency(old, new, [base64.b64decode(each) for each in found])
        return f"One log: {old} is the beginning of {new}."
    with options.export.open(encoding=ENCODING) as export:
        books = check_books(export, [path.read_text(ENCODING) for path in options.head], keys)
    if books.faults:
        raise Fault("\n".join([*books.faults[:FAULTS_SHOWN], f"Faults in all: {books.found:,}."]))
    journals, logged = len(books.journals), books.tree.size
    return (
        f"{journals:,} journals with {books.lines:,} lines balance, and so do {len(books.sums):,} sums.\n"
        f"{books.sizes[-1]:,} of them are in {books.heads[-1]}; {journals - logged:,} are too new for the log.\n"
        f"Nothing was changed, removed or inserted since {books.heads[0]}."
    )


def main() -> int:
    try:
        print(run(parser().parse_args()))
    except (Fault, OSError, *UNREADABLE) as error:
        is_fault = isinstance(error, Fault)
        print(error if is_fault else f"A file cannot be read: {reason_of(error)}", file=sys.stderr)
        return 1 if is_fault else 2
    return 0

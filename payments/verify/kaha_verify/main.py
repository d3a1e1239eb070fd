"""The command line."""

import argparse
import base64
import json
import sys
from pathlib import Path

import kaha_verify
from kaha_verify.books import check_books, check_proof
from kaha_verify.heads import Fault, check_consistency, read_head, read_key

FAULTS_SHOWN = 20


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kaha-verify", description=kaha_verify.__doc__)
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
        proof = json.loads(options.proof.read_text())
        return f"{proof['transaction']} is leaf {proof['leaf']} of {check_proof(proof, keys)}."
    if options.command == "heads":
        old, new = sorted(
            (read_head(path.read_text(), keys) for path in (options.old, options.new)), key=lambda head: head.size
        )
        found = json.loads(options.consistency.read_text())["proof"] if options.consistency else []
        check_consistency(old, new, [base64.b64decode(each) for each in found])
        return f"One log: {old} is the beginning of {new}."
    with options.export.open() as export:
        books = check_books(export, [path.read_text() for path in options.head], keys)
    if books.faults:
        more = len(books.faults) - FAULTS_SHOWN
        raise Fault("\n".join(books.faults[:FAULTS_SHOWN] + ([f"and {more:,} more"] if more > 0 else [])))
    return (
        f"{len(books.journals):,} journals with {books.lines:,} lines balance, and so do {len(books.sums):,} sums.\n"
        f"{books.heads[-1].size:,} of them are in {books.heads[-1]}; {books.new:,} are too new for the log.\n"
        f"Nothing was changed, removed or inserted since {books.heads[0]}."
    )


def main() -> int:
    options = parser().parse_args()
    try:
        print(run(options))
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"A file cannot be read: {error}", file=sys.stderr)
        return 2
    return 0

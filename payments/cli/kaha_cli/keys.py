"""API keys of kaha: their form, and what a text that is none probably is."""

import re

from kaha_cli.failures import Misuse

RANDOM_LENGTH = 48
PREFIX = re.compile(r"([srpa]k)_(live|test)_(?:[a-z][a-z0-9]{0,7}_)?")
KEY = re.compile(rf"{PREFIX.pattern}[0-9a-f]{{{RANDOM_LENGTH}}}")
ASSISTANTS = "ak_"
QUOTES = "\"'`“”‘’"


def check_key(key: str) -> str:
    """Return `key` if it can be a secret, restricted or assistant's key. Raises Misuse, which does not repeat it."""
    if not KEY.fullmatch(key):
        raise Misuse(f"This is not a key of kaha: {_fault(key)}")
    if key.startswith("pk_"):
        raise Misuse("This is a publishable key, which may only make sources. Use the secret key, sk_…")
    return key


def is_live(key: str) -> bool:
    """Return whether `key` is one of live mode."""
    return key[1:].startswith("k_live_")


def _fault(key: str) -> str:
    if key.startswith("whsec_"):
        return "it is a webhook secret, which belongs into KAHA_WEBHOOK_SECRET."
    if key[0] in QUOTES or key[-1] in QUOTES:
        return "it has quotation marks around it. Leave them out."
    prefix = PREFIX.match(key)
    if not prefix:
        return "one begins with sk_test_ or sk_live_. Is it the key of another service?"
    random = key[prefix.end() :]
    if not re.fullmatch("[0-9a-f]*", random):
        return f"after {prefix[0]} it has characters other than 0-9 and a-f. Is it the key of another service?"
    if len(random) < RANDOM_LENGTH:
        return f"it is cut short: {len(random)} of {RANDOM_LENGTH} characters follow {prefix[0]}. Copy all of it."
    return f"it is too long: {len(random)} characters follow {prefix[0]}, not {RANDOM_LENGTH}. Was it pasted twice?"

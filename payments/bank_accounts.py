"""Bank accounts as people type them and as banks take them: what is not unmistakable is refused, and never changed."""

import re

from anyascii import anyascii
from stdnum import bic, iban, numdb
from stdnum.exceptions import ValidationError as BadNumber

NAME_MAX_LENGTH = 70
# All but SWIFT's character set X, which SEPA has too, without line ends.
NOT_ALLOWED = re.compile(r"[^A-Za-z0-9/?:().,'+ -]")
WRITTEN = re.compile(r"[A-Za-z0-9]")
# Groups with one space or hyphen between them. A spreadsheet writes 1234567890.0, and a dot may be such a decimal's.
TYPED = re.compile(r"[A-Za-z0-9]+(?:[ \N{NO-BREAK SPACE}-][A-Za-z0-9]+)*")
SEPARATORS = re.compile(r"[ \N{NO-BREAK SPACE}-]")
# Of countries without IBAN. A shorter number would be shown almost whole by its last four characters.
MIN_LENGTH, MAX_LENGTH = 6, 34
IBAN_COUNTRIES = numdb.get("iban")


def checked_bic(typed: str) -> str:
    """Return a BIC in its normal form. Raise ValueError, whose message says what is right."""
    try:
        # Other letters have capitals of ASCII: the dotless i would become an I.
        return str(bic.validate(typed if typed.isascii() else ""))
    except BadNumber:
        raise ValueError("This is no BIC (ISO 9362), such as BNORPHMM: 8 or 11 characters.") from None


def checked_number(country: str, typed: str) -> str:
    """Return an account number without separators; an IBAN where the bank's country has them.

    Raise ValueError, whose message says what is right and does not repeat the number.
    """
    if not TYPED.fullmatch(typed.strip()):
        raise ValueError("Write letters and digits alone, with a space or a hyphen between groups at most.")
    number = SEPARATORS.sub("", typed.strip()).upper()
    if not MIN_LENGTH <= len(number) <= MAX_LENGTH:
        raise ValueError(f"An account number has {MIN_LENGTH} to {MAX_LENGTH} letters and digits.")
    if IBAN_COUNTRIES.info(country)[0][1] and not iban.is_valid(number):
        raise ValueError("Accounts in the bank's country have an IBAN, and this is none. Check it.")
    return number


def plain_name(name: str) -> str:
    """Return `name` in the characters that banks take, others transliterated, and at most NAME_MAX_LENGTH of them."""
    allowed = NOT_ALLOWED.sub(" ", anyascii(name).replace("&", "+").replace("_", "-"))
    return " ".join(allowed.split())[:NAME_MAX_LENGTH].strip()


def obstacle(holder: str, bank: str) -> str:
    """Return why no bank can be asked to pay to this holder at the bank with the BIC `bank`; empty where one can."""
    if not WRITTEN.search(plain_name(holder)):
        return "Banks take Latin letters and digits, and this holder's name has nothing that can be written so."
    return "" if bic.is_valid(bank) else "The BIC of its bank is none."

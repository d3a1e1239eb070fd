"""The check digit of card numbers (ISO/IEC 7812-1, annex B)."""

_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def luhn_valid(digits: str) -> bool:
    """Return whether the last of `digits` (ASCII, at least one) is the right check digit for the others."""
    values = [ord(digit) - 48 for digit in reversed(digits)]
    return (sum(values[::2]) + sum(_DOUBLED[value] for value in values[1::2])) % 10 == 0

"""The countries of an address, by their codes (ISO 3166-1 alpha-2)."""

from functools import cache
from gettext import translation

import pycountry
from django.utils.translation import get_language

HOME = "PH"


@cache
def all_codes() -> tuple[str, ...]:
    """Return the codes of all countries."""
    return tuple(country.alpha_2 for country in pycountry.countries)


def named(codes: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return these countries with their names in the language of the page: the home country first, then by name."""
    names = _names(get_language() or "")
    pairs = ((code, names.get(code, code)) for code in codes)
    return tuple(sorted(pairs, key=lambda pair: (pair[0] != HOME, pair[1])))


@cache
def _names(language: str) -> dict[str, str]:
    texts = translation("iso3166-1", pycountry.LOCALES_DIR, languages=[language], fallback=True)
    names = {}
    for country in pycountry.countries:
        translated = texts.gettext(country.name)
        usual = getattr(country, "common_name", country.name)
        names[country.alpha_2] = translated if translated != country.name else usual
    return names

"""Search for words in a text, by PostgreSQL's own index of them."""

import re

from django.contrib.postgres.search import SearchQuery, SearchVectorExact, SearchVectorField
from django.db.models import Func

# What stands between words: else the parser would take parts of `INV-2026-7` for negative numbers.
BETWEEN_WORDS = r"[!-/:-@[-`{-~]+"
_BETWEEN = re.compile(r"[\s!-/:-@\[-`{-~]+")


class Words(Func):
    """The words of a text column, whatever the language. Without parameters, so that the index always fits."""

    template = f"to_tsvector('simple'::regconfig, regexp_replace(%(expressions)s, '{BETWEEN_WORDS}', ' ', 'g'))"
    output_field = SearchVectorField()


def has_words(column: str, text: str) -> SearchVectorExact | None:
    """The condition that `column` has all words of `text`, of which the last may be cut short; None without a word."""
    words = [word for word in _BETWEEN.split(text) if word]
    if not words:
        return None
    wanted = " & ".join(f"'{word}'" for word in words)
    return SearchVectorExact(Words(column), SearchQuery(f"{wanted}:*", config="simple", search_type="raw"))

"""Full-text search by PostgreSQL's own index of words."""

import re

from django.contrib.postgres.search import SearchQuery, SearchVectorExact, SearchVectorField
from django.db.models import Func

# Characters between words: the parser would otherwise read parts of `INV-2026-7` as negative numbers.
BETWEEN_WORDS = r"[!-/:-@[-`{-~]+"
_BETWEEN = re.compile(r"[\s!-/:-@\[-`{-~]+")


class Words(Func):
    """The words of a text column in any language. It has no parameters, so that the index always matches."""

    template = f"to_tsvector('simple'::regconfig, regexp_replace(%(expressions)s, '{BETWEEN_WORDS}', ' ', 'g'))"
    output_field = SearchVectorField()


def has_words(column: str, text: str) -> SearchVectorExact | None:
    """Return the condition that `column` has all words of `text`, the last as a prefix; None if `text` has none."""
    words = [word for word in _BETWEEN.split(text) if word]
    if not words:
        return None
    wanted = " & ".join(f"'{word}'" for word in words)
    return SearchVectorExact(Words(column), SearchQuery(f"{wanted}:*", config="simple", search_type="raw"))

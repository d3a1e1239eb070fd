"""Code with colours: Pygments reads it, and five classes of the style sheet say what its parts are."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import inherit
from pygments.lexers import get_lexer_by_name
from pygments.lexers.data import JsonLexer
from pygments.lexers.shell import BashLexer
from pygments.token import Comment, Keyword, Name, Number, String

# Comments, texts, names of members and variables, numbers, and words of the language.
CLASSES = {
    Comment: "c",
    String: "s",
    Name.Tag: "n",
    Name.Attribute: "n",
    Name.Variable: "n",
    Number: "d",
    Keyword: "w",
    Name.Builtin: "w",
}


# Pygments has no public name for the type of a kind.
Token = tuple[Any, str]


class Shell(BashLexer):
    """Commands of a shell: what is run, its options, and JSON that it is given."""

    tokens = {
        "basic": [
            (r"^ *(?!\w+=|-)[\w./-]*\w(?= |$)", Name.Builtin),
            (r"(?<=\s)--?[A-Za-z][\w-]*", Name.Attribute),
            inherit,
        ]
    }

    def get_tokens_unprocessed(self, text: str, stack: tuple[str, ...] = ("root",)) -> Iterator[tuple[int, *Token]]:
        for place, kind, part in super().get_tokens_unprocessed(text, stack):
            # After a variable, the first two marks are the end of a text.
            begun = 2 if part.startswith("'\"") else 1
            is_json = part.startswith("'") and '"' in part[begun:]
            yield place, kind, part[:begun] if is_json else part
            if is_json:
                yield from JsonLexer().get_tokens_unprocessed(part[begun:])


@cache
def coloured(code: str, language: str) -> SafeString:
    """Return code as HTML with spans around its parts; "" for text in no language."""
    options = {"stripnl": False, "ensurenl": False}
    lexer = Shell(**options) if language in Shell.aliases else get_lexer_by_name(language or "text", **options)
    parts = groupby(lexer.get_tokens(code), lambda token: _class_of(token[0]))
    return mark_safe("".join(_span(name, "".join(text for _, text in tokens)) for name, tokens in parts))  # nosec


@cache
def _class_of(kind: Any) -> str:
    return next((CLASSES[one] for one in reversed(kind.split()) if one in CLASSES), "")


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)

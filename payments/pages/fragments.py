"""Fragments: parts of payers' templates that are the same for every payer, rendered once in a process."""

from functools import lru_cache
from typing import Any

from django import template
from django.template.base import Parser, Token

# Of each fragment; the ways to pay that shops offer differ in number and order.
KEPT_MAX = 256

register = template.Library()


class FragmentNode(template.Node):
    """Renders its content once for each language of the page and each value of the variables that its tag names.

    The content sees no others, so that nothing else, and no token, can be in what is kept. A template that is loaded
    anew begins anew.
    """

    def __init__(self, nodelist: template.NodeList, names: list[str]) -> None:
        self.nodelist, self.names = nodelist, names
        self._kept = lru_cache(KEPT_MAX)(self._rendered)

    def render(self, context: Any) -> str:
        # The root of all pages notes their language.
        return self._kept(context.template, context["language"], *map(context.get, self.names))

    def _rendered(self, page: template.Template, language: str, *values: Any) -> str:
        shown = template.Context(dict(zip(self.names, values, strict=True)))
        with shown.bind_template(page):
            return self.nodelist.render(shown)


@register.tag
def fragment(parser: Parser, token: Token) -> FragmentNode:
    """Compile `{% fragment name … %}`. What it names is offered by shops or by us, and never what a payer writes."""
    nodelist = parser.parse(("endfragment",))
    parser.delete_first_token()
    return FragmentNode(nodelist, token.split_contents()[1:])

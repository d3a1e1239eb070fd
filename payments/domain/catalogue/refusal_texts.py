"""Refusals with values in them: in English where they are sent and kept, in the reader's language on a page."""

from collections.abc import Mapping

from django.utils.translation import gettext


class Said(str):
    """An English text, with the template that catalogs have of it and its values."""

    template: str
    values: Mapping[str, object]

    def __str__(self) -> str:
        # Whatever has this text, as an exception, gives it on with its template.
        return self


def said(template: str, **values: object) -> Said:
    """Return the text of `template`, which must be in the catalog of the merchants' site, with `values`."""
    return fill(template, **values)


def fill(template: str, **values: object) -> Said:
    """Return the text of `template` with `values`."""
    text = Said(template.format(**values))
    text.template, text.values = template, values
    return text


def translated(text: str) -> str:
    """Return a refusal, and the words in it, in the language of the page."""
    if not isinstance(text, Said):
        return gettext(text)
    values = {
        name: translated(value) if isinstance(value, str) and value else value for name, value in text.values.items()
    }
    return gettext(text.template).format(**values)

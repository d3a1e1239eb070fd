"""Parts of pages that are rendered once in a process: whose they are, and whose they are not."""

from itertools import count

import pytest
from django.template import Context, Template
from django.test import Client

from tests.checkout.cast import opened
from tests.client import Api
from tests.pages.checkout_page import INSUFFICIENT, send, text_of

SHOWN = {"way": "gcash", "payer": "Maria"}


def rendered(source: str, **shown: object) -> list[str]:
    """Return what a template shows in three languages, the last of which is the first again."""
    template = Template(f"{{% load fragments %}}{source}")
    return [template.render(Context({**SHOWN, **shown, "language": language})) for language in ("en", "fil", "en")]


def test_a_fragment_sees_only_what_its_tag_names() -> None:
    assert rendered("{% fragment way %}{{ way }}{{ payer }}{{ request }}{% endfragment %}") == ["gcash"] * 3


def test_a_fragment_is_rendered_once_for_each_language() -> None:
    assert rendered("{% fragment number %}{{ number }}{% endfragment %}", number=count().__next__) == ["0", "1", "0"]


def test_a_fragment_is_rendered_for_each_value() -> None:
    source = "{% for way in ways %}{% fragment way %}{{ way }}{% endfragment %}{% endfor %}"
    assert rendered(source, ways=("maya", "bpi")) == ["mayabpi"] * 3


@pytest.mark.django_db
def test_what_a_payer_wrote_is_in_no_other_page(client: Client, api: Api) -> None:
    session = opened(api)
    send(client, session, number=INSUFFICIENT, holder="Zenaida Aquino")
    assert 'value="Zenaida Aquino"' in text_of(client, session)
    assert "Zenaida" not in text_of(client, opened(api))

"""The pictures of README and the guides."""

import re

from tests.figures.back_office.picture import MOST_BYTES, PICTURES
from tests.guides.texts import TEXTS

SHOWN = {name for text in TEXTS.values() for name in re.findall(r"/static/docs/screenshots/([a-z-]+\.webp)", text)}


def test_each_picture_is_shown_and_each_that_is_shown_is_there() -> None:
    assert sorted(path.name for path in PICTURES.iterdir()) == sorted(SHOWN)


def test_each_picture_loads_quickly() -> None:
    assert [path.name for path in PICTURES.iterdir() if path.stat().st_size > MOST_BYTES] == []

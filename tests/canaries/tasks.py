"""Tasks that fail with an opened card; they take no argument."""

from celery import shared_task

from payments.domain.cards.card_data import card_data
from payments.models import Card
from tests.canaries.marks import SHAPES, Shape


def _quoted(shape: Shape) -> str:
    card = Card.objects.select_related("source").filter(sealed_cvc__isnull=False, last4__startswith="1").latest("id")
    data = card_data(card)
    assert data.cvc
    return shape(data.number, data.cvc)


def _breaking(name: str, shape: Shape) -> None:
    def break_over_a_card() -> None:
        raise RuntimeError(f"cannot take {_quoted(shape)}")

    shared_task(name=f"tests.canaries.{name}")(break_over_a_card)


for name, shape in SHAPES.items():
    _breaking(name, shape)

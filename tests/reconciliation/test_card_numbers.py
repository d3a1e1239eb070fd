"""A report is free text of others: no cell of it, nor its file's name, leaves a card number in the database."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from payments.domain.reconciliation import uploads
from payments.domain.reconciliation.layouts import LAYOUTS
from payments.models import Attempt, ReportLine, ReportUpload
from tests.canaries.misplaced import NUMBER
from tests.canaries.service import card_numbers_kept
from tests.client import Api
from tests.figures.inputs.card_texts import DISGUISES
from tests.reconciliation.factories import reconcile, simulator_lines

pytestmark = pytest.mark.django_db


def test_a_line_keeps_no_card_number_in_any_disguise(api: Api) -> None:
    api.charge()
    (line,) = simulator_lines()
    texts = [disguise(NUMBER) for disguise in DISGUISES.values()]
    lines = [replace(line, reference=text, provider_ref=text, word=text, amount=n) for n, text in enumerate(texts, 1)]
    reconcile(lines=lines, file=f"{NUMBER}.csv")
    assert ReportLine.objects.count() == len(texts)
    assert card_numbers_kept() == []
    assert f"[card …{NUMBER[-4:]}]" in set(ReportLine.objects.values_list("reference", flat=True))


def test_a_providers_own_name_of_a_payment_finds_it_although_it_looks_like_a_card_number(api: Api) -> None:
    api.charge()
    Attempt.objects.update(provider_ref=NUMBER)
    (line,) = simulator_lines()
    reconcile(lines=[replace(line, reference="", provider_ref=NUMBER)])
    assert ReportLine.objects.get().matched_at is not None


@pytest.mark.parametrize("provider", LAYOUTS)
def test_a_file_with_a_card_number_in_any_cell_leaves_none_behind(provider: str) -> None:
    operator = User.objects.create(username="maria")
    names = LAYOUTS[provider].names
    for place, disguise in enumerate([*DISGUISES.values()][: len(names)]):
        cells = ["" for _ in names]
        cells[place] = f'"{disguise(NUMBER)}"'
        raw = f"{','.join(names)}\n{','.join(cells)}\n".encode()
        uploads.submit(provider, f"{disguise(NUMBER)}.csv", raw, operator, None, None)
        assert uploads.read_due()
    assert not ReportUpload.objects.filter(sealed_content__isnull=False).exists()
    assert card_numbers_kept() == []

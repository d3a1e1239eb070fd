"""Reports of whole accounts: what others do there changes nothing of what is ours."""

from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.models import ReconciliationItem, ReportLine
from tests.client import Api
from tests.reconciliation.live.account import FOREIGN, account_of, columns, foreign_lines
from tests.reconciliation.live.reports import DEBIT, PROVIDERS, read, reconcile
from tests.reconciliation.live.test_matches import all_rows, paid_by

pytestmark = pytest.mark.django_db

# Anything in any column but NUL, with which a file is no text.
CELLS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=60),
    st.sampled_from(
        [*FOREIGN, "0.00", "-5", "1,000.00", "1e9", "9999-12-31 23:59:59", "XXX", "x" * 300, "CST", "DEBIT"]
    ),
)


def foreign_rows(provider: str) -> st.SearchStrategy[dict[str, str]]:
    """Return rows in which any columns are spoilt, of a payment that is not ours."""
    names = [name for name in columns(provider) if "Reference" not in name and not name.endswith("ID")]
    theirs = [name for name in columns(provider) if name not in names]
    spoilt = st.dictionaries(st.sampled_from(names), CELLS)
    return st.tuples(spoilt, st.fixed_dictionaries(dict.fromkeys(theirs, CELLS))).map(lambda both: both[0] | both[1])


@pytest.mark.long
@PROVIDERS
def test_a_report_of_a_whole_account_matches_what_is_ours(api: Api, provider: str, tmp_path: Path) -> None:
    paid_by(api, provider)
    run = reconcile(tmp_path, provider, *account_of(provider, all_rows(provider)))
    assert (run.matched, run.lines) == (3, 3 + foreign_lines(provider))
    assert run.differences == {"missing_here": foreign_lines(provider)}
    assert not ReconciliationItem.objects.exclude(charge=None).exists()


@pytest.mark.long
@PROVIDERS
@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_foreign_row_anywhere_changes_no_line_of_the_others(
    provider: str, data: st.DataObject, tmp_path: Path
) -> None:
    good = [{}, {"Type": "Refunded", **DEBIT}] if provider == "adyen" else [{}, {"Debit or Credit": "DEBIT"}]
    before = read(tmp_path, provider, *good)
    place = data.draw(st.integers(0, len(good)))
    row = data.draw(foreign_rows(provider))
    after = read(tmp_path, provider, *good[:place], row, *good[place:])
    assert [line for line in after if line in before] == before
    assert len(after) - len(before) in (0, 1)


@pytest.mark.long
@PROVIDERS
def test_a_foreign_row_anywhere_changes_no_match(api: Api, provider: str, tmp_path: Path) -> None:
    paid_by(api, provider)
    good = all_rows(provider)
    with transaction.atomic():
        expected = matches(tmp_path, provider, good)
        transaction.set_rollback(True)
    assert len(expected) == 3

    @given(row=foreign_rows(provider), place=st.integers(0, len(good)))
    @settings(max_examples=25, deadline=None)
    def never(row: dict[str, str], place: int) -> None:
        with transaction.atomic():
            assert matches(tmp_path, provider, [*good[:place], row, *good[place:]]) == expected
            transaction.set_rollback(True)

    never()


def matches(folder: Path, provider: str, rows: list[dict[str, str]]) -> set[tuple[str, str, int]]:
    """Return of each matched line its reference, its movement and its posting."""
    reconcile(folder, provider, *rows)
    matched = ReportLine.objects.filter(posting__isnull=False)
    return set(matched.values_list("reference", "kind", "posting"))

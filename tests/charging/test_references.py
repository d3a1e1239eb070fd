"""The names under which a provider knows what is asked of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments import ids
from payments.providers.references import FollowUp, read_reference, reference_of


@pytest.mark.long
@given(st.text(alphabet="0123456789abcdef", min_size=31, max_size=33) | st.text(max_size=40))
def test_whatever_text_is_read_it_is_a_name_that_leads_back_or_none(text: str) -> None:
    read = read_reference(text)
    if read is not None:
        attempt_id, step = read
        assert text == (reference_of(attempt_id, step) if step else attempt_id.hex)


@pytest.mark.parametrize("step", FollowUp)
def test_the_name_of_a_step_leads_back_to_its_attempt(step: FollowUp) -> None:
    attempt_id = ids.new_id()
    assert read_reference(reference_of(attempt_id, step)) == (attempt_id, step)


def test_an_attempt_is_named_by_its_id() -> None:
    attempt_id = ids.new_id()
    assert read_reference(attempt_id.hex) == (attempt_id, None)


def test_no_two_steps_of_an_attempt_share_a_name() -> None:
    attempt_id = ids.new_id()
    assert len({attempt_id.hex, *(reference_of(attempt_id, step) for step in FollowUp)}) == 1 + len(FollowUp)

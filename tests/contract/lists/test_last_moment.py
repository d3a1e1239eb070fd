"""The last moment that a date can have is a bound like any other."""

import pytest

from tests.client import Api


@pytest.mark.parametrize("path", ["/charges/", "/payouts/", "/balance_transactions/"])
@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999999999Z"])
def test_a_list_up_to_the_last_moment_is_the_whole_list(api: Api, path: str, moment: str) -> None:
    api.charge()
    assert api.get(path, **{"created_at[lt]": moment}).content == api.get(path).content

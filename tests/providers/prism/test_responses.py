"""Responses to disputes, held against Adyen's description of its Disputes API by somebody else's reading of it."""

import pytest

from payments.providers.adyen.connector import Adyen
from payments.providers.base import Approved
from payments.providers.disputes import Response
from tests.providers.adyen.bench import ACCOUNT, adyen_bench
from tests.providers.contract.test_disputes import BOTH, responding
from tests.providers.prism.proxy import prism_before

DESCRIPTION = "adyen-DisputeService-v30.json"


@pytest.mark.parametrize("response", BOTH)
def test_a_response_and_its_answers_are_as_described(response: Response) -> None:
    with adyen_bench() as bench, prism_before(bench.fake.address, DESCRIPTION) as prism:
        payment, asked = responding(bench, response)
        assert Adyen(ACCOUNT, prism.url).respond(asked) == Approved(asked.provider_ref)
        assert bench.responses(payment) == [response]
        assert prism.complaints() == []

"""Disputes and responses to them, held against the providers' descriptions by somebody else's reading of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from payments.providers.adyen.connector import Adyen
from payments.providers.base import Approved
from payments.providers.disputes import DisputeResponse, FoundDispute, Response
from payments.providers.xendit.client import XenditClient
from payments.providers.xendit.connector import Xendit
from tests.providers.adyen.bench import ACCOUNT, adyen_bench
from tests.providers.bench import Spoilt
from tests.providers.contract.test_disputes import BOTH, PIECES, responding
from tests.providers.prism.proxy import Prism, prism_before
from tests.providers.xendit.bench import xendit_bench

ADYEN = "adyen-DisputeService-v30.json"
XENDIT = "xendit-disputes-v1-subset.openapi.json"


Behind = tuple[Any, Prism]


@pytest.fixture(scope="module")
def adyen_behind() -> Iterator[Behind]:
    """Yield one fake of Adyen and one Prism for all its responses, because a Prism takes long to start."""
    with adyen_bench() as bench, prism_before(bench.fake.address, ADYEN) as prism:
        yield bench, prism


@pytest.fixture(scope="module")
def xendit_behind() -> Iterator[Behind]:
    """Yield the same for Xendit."""
    with xendit_bench() as bench, prism_before(bench.fake.address, XENDIT) as prism:
        yield bench, prism


@pytest.mark.parametrize("response", BOTH)
def test_a_response_to_adyen_and_its_answers_are_as_described(response: Response, adyen_behind: Behind) -> None:
    bench, prism = adyen_behind
    payment, asked = responding(bench, response)
    assert Adyen(ACCOUNT, prism.url).respond(asked) == Approved(asked.provider_ref)
    assert bench.responses(payment) == [response]
    assert prism.complaints() == []


@pytest.mark.parametrize("response", BOTH)
def test_a_response_to_xendit_and_its_answers_are_as_described(response: Response, xendit_behind: Behind) -> None:
    bench, prism = xendit_behind
    payment, asked = responding(bench, response)
    connector = Xendit(XenditClient(prism.url, bench.secret_key), bench.callback_token)
    assert connector.respond(asked) == Approved(asked.provider_ref)
    assert isinstance(connector.find_dispute(asked.provider_ref), FoundDispute)
    assert bench.responses(payment) == [response]
    assert prism.complaints() == []


def test_evidence_of_an_earlier_try_is_deleted_at_xendit_as_described(xendit_behind: Behind) -> None:
    bench, prism = xendit_behind
    payment, asked = responding(bench, Response.EVIDENCE)
    bench.spoil_posts([None, Spoilt.DROPPED])
    bench.connector.respond(asked)
    [made] = bench.fake.disputes.of(payment.reference)
    connector = Xendit(XenditClient(prism.url, bench.secret_key), bench.callback_token)
    fewer = DisputeResponse(asked.provider_ref, asked.payment_reference, asked.response, PIECES[:1])
    assert connector.respond(fewer) == Approved(asked.provider_ref)
    assert (len(made.evidences), prism.complaints()) == (1, [])

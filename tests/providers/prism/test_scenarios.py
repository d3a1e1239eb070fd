"""The scenarios of the contract suite, held against the providers' descriptions by somebody else's reading of them."""

from tests.providers.contract.test_lookups import *  # noqa: F403
from tests.providers.contract.test_operations import *  # noqa: F403
from tests.providers.contract.test_payments import *  # noqa: F403
from tests.providers.contract.test_records import *  # noqa: F403
from tests.providers.contract.test_unknown import (  # noqa: F401
    test_a_page_whose_address_is_lost_is_asked_for_again,
    test_a_payment_whose_answer_is_lost_is_found,
    test_a_refund_whose_answer_is_lost_is_found_and_made_once,
    test_what_was_done_with_a_hold_is_found_when_its_answer_is_lost,
)
from tests.providers.contract.test_webhooks import test_credentials_are_known_to_the_provider  # noqa: F401

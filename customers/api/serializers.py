"""What requests about customers may hold (contract, section 3)."""

from customers.api.consent import Consent
from payments.api.validation.fields import Email, PlainText, StrictString
from payments.api.validation.metadata import MEANING, Metadata
from payments.api.validation.query_fields import PageQuery, QueryEmail
from payments.api.validation.strict import StrictSerializer

EMAIL = "E-mail address."
DESCRIPTION = "Who the customer is, in the merchant's words."


class MobileNumber(StrictString):
    """A mobile number. An empty one is none, because that is the published reference's own default."""

    def __init__(self) -> None:
        super().__init__(min_length=5, max_length=25, required=False, blank_is_absent=True, help_text="Mobile number.")


class CustomerInput(StrictSerializer):
    """A new customer."""

    email = Email(help_text=EMAIL)
    description = StrictString(max_length=255, help_text=DESCRIPTION)
    mobile_number = MobileNumber()
    metadata = Metadata(required=False, help_text=MEANING)


class CustomerChanges(StrictSerializer):
    """The changes to a customer."""

    email = Email(required=False, blank_is_absent=True, help_text=EMAIL)
    description = StrictString(max_length=255, required=False, help_text=DESCRIPTION)
    mobile_number = MobileNumber()
    metadata = Metadata(
        required=False,
        help_text=f"{MEANING} It is replaced as a whole: `null` leaves it as it is, `{{}}` empties it.",
    )


class AttachInput(StrictSerializer):
    """The source to keep for a customer."""

    source = PlainText(max_length=255, help_text="The ID of an unused source.")  # type: ignore[assignment]
    consent = Consent(
        required=False,
        help_text="What the payer agreed to. It is kept with the source, in no answer, and sent with the evidence of "
        "a dispute.",
    )


class CustomerListQuery(PageQuery):
    """The filter of customers: their e-mail address; case counts before the @."""

    email = QueryEmail(required=False, help_text="Only customers with this address; case counts before the @.")

"""What requests about customers may hold (contract, section 3)."""

from payments.api.fields import Email, NameSafe, StrictString
from payments.api.metadata import Metadata
from payments.api.serializers import PageQuery
from payments.api.strict import StrictSerializer


class CustomerInput(StrictSerializer):
    """`POST /v2/customers/`."""

    email = Email()
    description = StrictString(max_length=255)
    mobile_number = StrictString(min_length=5, max_length=25, required=False)
    metadata = Metadata(required=False)


class CustomerChanges(StrictSerializer):
    """`PUT /v2/customers/{cus}`: members given replace, `metadata` as a whole."""

    email = Email(required=False)
    description = StrictString(max_length=255, required=False)
    mobile_number = StrictString(min_length=5, max_length=25, required=False)
    metadata = Metadata(required=False)


class AttachInput(StrictSerializer):
    """`POST /v2/customers/{cus}/sources`."""

    source = NameSafe(max_length=255)  # type: ignore[assignment]


class CustomerListQuery(PageQuery):
    """`GET /v2/customers/`: those with exactly this `email`; case counts."""

    email = Email(required=False)

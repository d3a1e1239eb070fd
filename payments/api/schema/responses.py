"""What answers show in the OpenAPI document beside the objects that `payments.rendering.objects` declares."""

from functools import cache
from typing import Any, cast

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_serializer

from payments.api.validation.fields import Url
from payments.api.validation.serializers import AddressInput, CardInput, OwnerInput, RedirectInput
from payments.api.validation.strict import StrictSerializer
from payments.domain.catalogue.event_types import SUBJECTS
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member

# drf-spectacular would take each answer of a list for one item of it.
extend_schema_serializer(many=False)(ApiObject)

NOTHING = {"type": "object", "maxProperties": 0}


def echo(request: type[StrictSerializer], *names: str) -> dict[str, Member]:
    """Return the members `names` (default: all) of a request as answers show them: strings, with the same text."""
    fields = request().get_fields()
    return {
        name: (member.web_address if isinstance(fields[name], Url) else member.text)(
            str(fields[name].help_text), required=fields[name].required
        )
        for name in names or fields
    }


ADDRESS = ApiObject("Address", "A billing or shipping address.", **echo(AddressInput))
# What declarations refer to by its name: what answers show as requests sent it, and any object of an event.
NAMED: dict[str, Any] = {
    "EventObject": PolymorphicProxySerializer(
        "EventObject",
        lambda: cast(Any, [each.shown for each in SUBJECTS.values()]),
        resource_type_field_name=None,
    ),
    "CardAddress": ApiObject(
        "CardAddress",
        "The address of a card.",
        **echo(CardInput, *(name for name in CardInput().get_fields() if name.startswith("address_"))),
    ),
    "Redirect": ApiObject("Redirect", "Where the payer is sent back to, and the URL to notify.", **echo(RedirectInput)),
    "Owner": ApiObject(
        "Owner",
        "The owner of a source.",
        billing=Member(ADDRESS, "Billing address.", required=False),
        shipping=Member(ADDRESS, "Shipping address.", required=False),
        **echo(OwnerInput, "name", "address_country"),
    ),
}


@cache
def page_of(item: ApiObject) -> ApiObject:
    """Return the envelope of a list of `item`."""
    return ApiObject(
        f"{item.name}List",
        "A page of a list, newest first.",
        object=member.named("list"),
        data=Member(item, "At most `limit` objects.", many=True),
        next=member.text("Path of the next page, every filter kept; absent on the last page.", required=False),
    )

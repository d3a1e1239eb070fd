"""Payment links in the OpenAPI document."""

from payments.api.checkout.links import LinkListQuery
from payments.api.schema.operations import CHECKOUT, DescribedView, id_in_path, listing, reading, writing
from payments.api.validation.payment_links import LinkChangeInput, LinkInput
from payments.api.validation.strict import Nothing
from payments.domain.catalogue.error_table import LINK_NOT_ACTIVATABLE, SOURCE_TYPE_UNAVAILABLE
from payments.rendering.objects.payment_links import LINK_ITEM, PAYMENT_LINK

ITEM = {name: LINK_ITEM.example[name] for name in ("name", "amount")} | {"quantity": 50}
ORDER = {
    "internal_name": "Summer menu",
    "allow_adjustable_quantity": True,
    "currency": "PHP",
    "line_items": [ITEM],
    "payment_method_types": ["card", "gcash"],
}
SOLD = PAYMENT_LINK.example | {"line_items": [LINK_ITEM.example | ITEM]}


class Links(DescribedView):
    target_class = "payments.api.checkout.links.LinkViewSet"
    tag = CHECKOUT
    at = [id_in_path("plink", "payment link")]
    operations = {
        "list": listing(
            "list_payment_links",
            "List payment links",
            "Newest first.",
            PAYMENT_LINK,
            "/v2/payment_links/",
            LinkListQuery,
            example=SOLD,
        ),
        "create": writing(
            "create_payment_link",
            "Create a payment link",
            "Makes a page that sells the same items to many payers, as long as there are any: give its `url` to them. "
            "What a payer buys is kept for 30 minutes and makes one charge. The event `payment_link.updated` says when "
            "the stock changes.",
            LinkInput,
            PAYMENT_LINK,
            status=201,
            sent={"Order": ORDER},
            answered={"Active": SOLD},
            conflicts=(),
            invalid=[SOURCE_TYPE_UNAVAILABLE],
            may_not_be_taken=True,
        ),
        "retrieve": reading(
            "retrieve_payment_link",
            "Retrieve a payment link",
            "The link as it is now, with what is left.",
            PAYMENT_LINK,
            SOLD,
        ),
        "update": writing(
            "update_payment_link",
            "Change a payment link",
            "The given members replace those of the link, `line_items` all of them; what you leave out stays. Payments "
            "under way keep what was bought.",
            LinkChangeInput,
            PAYMENT_LINK,
            sent={"Name": {"internal_name": "Winter menu"}},
            answered={"Active": SOLD | {"internal_name": "Winter menu"}},
            conflicts=(),
            invalid=[SOURCE_TYPE_UNAVAILABLE],
            idempotent=False,
            may_not_be_taken=True,
        ),
        "activate": writing(
            "activate_payment_link",
            "Activate a payment link",
            "Its page sells again. One that is active already stays as it is.",
            Nothing,
            PAYMENT_LINK,
            answered={"Active": SOLD},
            conflicts=(LINK_NOT_ACTIVATABLE,),
        ),
        "deactivate": writing(
            "deactivate_payment_link",
            "Deactivate a payment link",
            "Its page sells no more. Payments under way can still be paid.",
            Nothing,
            PAYMENT_LINK,
            answered={"Deactivated": SOLD | {"active": False}},
            conflicts=(),
        ),
    }

"""Webhook endpoints in the OpenAPI document."""

from payments.api.schema.operations import DescribedView, id_in_path, listing, reading, writing
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Nothing
from payments.api.validation.webhook_endpoints import EndpointChanges, EndpointInput, RollInput
from payments.domain.catalogue.error_table import TOO_MANY_WEBHOOK_ENDPOINTS
from payments.rendering.objects.webhook_endpoints import (
    DELETED_WEBHOOK_ENDPOINT,
    NEW_WEBHOOK_ENDPOINT,
    WEBHOOK_ENDPOINT,
    WEBHOOK_TEST,
)

TAG = "Webhook endpoints"
EXAMPLE = WEBHOOK_ENDPOINT.example
SECRET = {"secret": NEW_WEBHOOK_ENDPOINT.members["secret"].example}


class WebhookEndpoints(DescribedView):
    target_class = "payments.api.webhooks.endpoints.WebhookEndpointViewSet"
    tag = TAG
    at = [id_in_path("we", "webhook endpoint")]
    operations = {
        "create": writing(
            "create_webhook_endpoint",
            "Make a webhook endpoint",
            "From now on it gets the events of the types it lists, signed with the `secret` that this answer alone "
            "shows. A replayed answer is without it. There are at most 16 in each mode.",
            EndpointInput,
            NEW_WEBHOOK_ENDPOINT,
            status=201,
            sent={"Endpoint": {name: EXAMPLE[name] for name in ("url", "enabled_events", "description")}},
            answered={"Endpoint": EXAMPLE | SECRET},
            conflicts=(TOO_MANY_WEBHOOK_ENDPOINTS,),
            handles_cards=True,
        ),
        "list": listing(
            "list_webhook_endpoints",
            "List webhook endpoints",
            "Newest first.",
            WEBHOOK_ENDPOINT,
            "/v2/webhook_endpoints/",
            PageQuery,
            example=EXAMPLE,
        ),
        "retrieve": reading(
            "retrieve_webhook_endpoint",
            "Read a webhook endpoint",
            "The endpoint as it is now.",
            WEBHOOK_ENDPOINT,
            EXAMPLE,
        ),
        "update": writing(
            "update_webhook_endpoint",
            "Change a webhook endpoint",
            "The members given replace what was there. What waits is sent to the new URL.",
            EndpointChanges,
            WEBHOOK_ENDPOINT,
            sent={"Pause": {"status": "paused"}},
            answered={"Paused": EXAMPLE | {"status": "paused"}},
            conflicts=(),
            idempotent=False,
        ),
        "destroy": writing(
            "delete_webhook_endpoint",
            "Delete a webhook endpoint",
            "It gets no more events, and those that wait are cancelled.",
            Nothing,
            DELETED_WEBHOOK_ENDPOINT,
            answered={"Deleted": DELETED_WEBHOOK_ENDPOINT.example},
            conflicts=(),
            idempotent=False,
        ),
        "test": writing(
            "test_webhook_endpoint",
            "Send a test event",
            "Sends a signed `charge.created` about a charge that does not exist, once and now, and answers what your "
            "receiver did. One at a time, else 429.",
            Nothing,
            WEBHOOK_TEST,
            answered={"Delivered": WEBHOOK_TEST.example | {"error": None}},
            conflicts=(),
            handles_cards=True,
        ),
        "roll_secret": writing(
            "roll_webhook_endpoint_secret",
            "Roll the secret of a webhook endpoint",
            "A new secret signs at once; this answer alone shows it, and no replayed one. The earlier one signs "
            "too for `overlap_seconds`, and no older one does.",
            RollInput,
            NEW_WEBHOOK_ENDPOINT,
            sent={"A day": {"overlap_seconds": 86_400}},
            answered={"Rolled": EXAMPLE | SECRET},
            conflicts=(),
            handles_cards=True,
        ),
    }

"""What may be done about a dispute."""

from django.utils.translation import gettext_lazy as _

from payments.domain.shared.verbs import Verb

WRITE, RESPOND = "disputes:write", "payments.respond_dispute"
ADD_EVIDENCE = Verb("add_evidence", "", WRITE, RESPOND, _("Add evidence"))
SUBMIT_EVIDENCE = Verb(
    "submit_evidence",
    _("It is sent once, and cannot be changed afterwards."),
    WRITE,
    RESPOND,
    _("Submit the evidence"),
)
ACCEPT = Verb(
    "accept",
    _("The payer keeps the money. This cannot be undone."),
    WRITE,
    "payments.accept_dispute",
    _("Accept the loss"),
)

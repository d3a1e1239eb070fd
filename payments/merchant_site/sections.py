"""The navigation of the merchants' site."""

from collections.abc import Mapping, Sequence

from payments.staff.admin_site.navigation import Section

SECTIONS: Mapping[str, Sequence[Section]] = {
    "": (Section("Home", "home", ("index",)),),
    "Payments": (
        Section("Payments", "card", ("payments.charge", "payments.refund", "payments.charge?money=held")),
        Section("Checkout", "shop", ("payments.checkout", "payments.paymentlink")),
        Section("Customers", "people", ("customers.customer", "payments.payermessage")),
        Section("Disputes", "flag", ("payments.dispute",)),
        Section(
            "Approvals",
            "inbox",
            (
                *("payments_approvalrequest_waiting", "payments.operatoraction", "payments.approvalrequest"),
                "payments.assistantcall",
            ),
        ),
    ),
    "Money": (
        Section("Payouts", "bank", ("payments.payout", "balance", "payments.payoutaccount", "payments.payoutschedule")),
        Section("Reports", "report", ("payments.statement",)),
    ),
    "Shop": (
        Section(
            "Developers",
            "code",
            (
                *("payments.apikey", "payments.webhookendpoint", "payments.webhook", "payments.event"),
                *("payments.apirequest", "payments.webhooksecret"),
            ),
        ),
        Section("Settings", "sliders", ("payments.merchant", "payments.merchantaccess", "payments.approvallimit")),
    ),
}

"""Merchants' webhook endpoints: made, changed, checked, tested, and sent again to. `payments.webhooks` delivers."""

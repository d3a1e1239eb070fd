"""Webhooks: events on their way to the merchants' notify URLs, delivered at least once each.

`outbox` writes them, `claims` leases the due ones to a worker, `attempts` sends them as `receiver_queues` allow, and
`retry_schedule` sets the next attempt. `transport` decides where a connection may go. The package reads
events and merchants by their tables only; it does not know how a charge changes.
"""

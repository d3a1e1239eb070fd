"""Carries events to the merchants' notify URLs, at least once each.

Kept in `outbox`, claimed by `leasing`, sent by `delivery` when `schedule` says so, signed by `signing`.
`bulkheads` shares the places among merchants and receivers.
`urls` and `addresses` say where it may connect, `resolving` asks for a name's addresses, `transport` sends.
The room knows events and merchants by their tables only, and nothing of how a charge moves.
"""

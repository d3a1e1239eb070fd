"""Carries events to the merchants' notify URLs, at least once each.

`urls` and `addresses` say where it may connect, `resolving` asks for a name's addresses, and `transport` sends.
The room knows events and merchants by their tables only, and nothing of how a charge moves.
"""

"""The sweeps of the workers: how often each runs, who runs it, when each worker was last seen, and what is due.

Everything is in PostgreSQL, so sweeps continue while Redis is away: `timer` claims the due ones on every worker.
"""

"""Reads from a standby, where REPLICA_DATABASE_URL names one, of what may be a little old.

Each call site says so by `reads.read`; everything else is read from the primary, and everything is written there.
"""

REPLICA = "replica"

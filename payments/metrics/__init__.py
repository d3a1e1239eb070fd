"""What each process counts for Prometheus: requests, calls of providers, outcomes, webhooks, threads, connections.

Every label has a bound: names of routes, providers, operations and outcomes, and never a merchant, an ID or a path.
"""

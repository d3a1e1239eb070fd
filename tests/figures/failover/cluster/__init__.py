"""The hosts and the services on them, each by its file in config/deploy."""

"""Facts of the service for Prometheus, and the server that a scraper asks."""

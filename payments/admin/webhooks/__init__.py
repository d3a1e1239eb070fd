"""Pages of webhooks that go to merchants, and of their endpoints."""

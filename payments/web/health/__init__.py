"""The health checks of a web process, and what they are known by."""

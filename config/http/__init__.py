"""Middleware, error pages and upload handlers."""

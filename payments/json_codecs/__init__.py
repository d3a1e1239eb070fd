"""JSON as others send it: read to a limited depth, and written back exactly."""

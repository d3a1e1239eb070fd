"""The figures and the chart of the admin's first page."""

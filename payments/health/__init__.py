"""Whether the service is well: one `table` of facts, which are read with bounds and judged by `findings`.

`manage.py doctor` and the back office's page On call show the findings, `/ready` their lines, and Prometheus the
metrics of the same facts.
"""

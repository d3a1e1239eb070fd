"""A year of test charges for demos and benchmarks, made by the verbs of the API on the simulator.

Each charge is a `Sale`, and what happens to it is a scenario: a generator that yields the moment at which it continues.
`year` runs the scenarios of a merchant in the order of these moments, with `clock.at` set to each.
"""

"""A made-up year of test charges for demos and benchmarks, in the words of the verbs that take real ones.

Each charge is told in memory: the domain says what it would write (`Story`), the simulator's books are kept beside
(`simulated`), time is told by `clock.at`, and what comes of it goes to the database by COPY.
"""

"""Programs that run on the hosts, each in a process of its own."""

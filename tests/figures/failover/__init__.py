"""kaha on many hosts, each a network namespace, of which one after the other fails under load."""

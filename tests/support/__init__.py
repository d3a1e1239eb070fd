"""What tests of all rooms stand on: one launcher of programs, one server of answers, one generator of histories."""

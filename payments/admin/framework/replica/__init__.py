"""What the replica answers, where there is one."""

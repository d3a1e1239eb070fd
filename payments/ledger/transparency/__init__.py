"""The transparency log: each journal of the ledger as a leaf of a Merkle tree, and signed heads of it."""

"""The charges of `books` as a company runs them: claimed by their keys, and answered with what kaha answers with."""

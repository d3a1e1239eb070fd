"""What operators do about charges, by the verbs of the API: at once, or after a second person has agreed."""

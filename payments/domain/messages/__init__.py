"""Messages to payers by e-mail and SMS: written with their cause, found when due, sent by a worker."""

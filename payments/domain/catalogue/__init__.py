"""What is declared once, a line each, and read by document, forms, pages, senders and the command line."""

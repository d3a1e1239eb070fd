"""`kaha rehearse`: a month of buyers against a merchant's own shop, and whether its orders and kaha's books agree."""

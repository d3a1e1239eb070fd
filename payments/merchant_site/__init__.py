"""The merchants' own site: the pages on which a merchant's people see its payments and do their part.

Its pages are those of the back office with other columns, buttons and filters. Each sees one merchant, behind two
walls: every page filters by the merchant, and PostgreSQL shows the connection the rows of that merchant alone.
"""

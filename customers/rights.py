CUSTOMER_RIGHTS = {
    "customers:read": "read, find and list customers, with the sources kept for them",
    "customers:write": "make, change and delete customers, keep sources for them and give them up",
}

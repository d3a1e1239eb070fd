"""The staff who work in the admin: how they sign in, how long that holds, and what each role may do.

The password comes first, then a second factor (django-otp): a code of an authenticator app, a passkey, or a recovery
code. Nobody is signed in before both were right. Failures of either count towards the lock-out (django-axes).
"""

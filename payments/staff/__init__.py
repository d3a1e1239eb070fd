"""The operators of the admin: sign-in, sessions, second factors and roles.

A sign-in takes the password and then a second factor (django-otp): a code of an authenticator app, a passkey, or a
recovery code. Failures of either count towards the lock-out (django-axes).
"""

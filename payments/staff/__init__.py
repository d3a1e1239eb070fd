"""The operators of the admin: sign-in, sessions, second factors and roles.

A sign-in (django-allauth) takes the password and then a second factor: a code of an authenticator app, a passkey, or a
recovery code. Failures of either count towards the lock-out.
"""

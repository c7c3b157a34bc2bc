"""How people sign in and stay signed in: second factors, sessions, lockout. Source: trust W-08 to W-11.

django-allauth checks codes and passkeys; the pages, the limits and what is kept about a session are ours.
"""

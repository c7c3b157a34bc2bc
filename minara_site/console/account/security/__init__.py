"""Second step and confirmation, and the page of one's password, second factors and sign-ins."""

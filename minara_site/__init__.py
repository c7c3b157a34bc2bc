"""The project: settings, the shell around the apps, and the kernel under them."""

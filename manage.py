#!/usr/bin/env python
"""Run a management command; the installed `minara` script takes the same ones."""

from minara_site.cli import main

if __name__ == "__main__":
    main()

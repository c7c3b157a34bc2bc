"""`python -m tests.planted [--only TEXT]`: plant each fault of `faults.toml` and say which test catches it."""

from tests.planted.run import main

if __name__ == "__main__":
    raise SystemExit(main())

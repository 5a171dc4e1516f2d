"""Runs `catalog-probe` as `python -m catalog_probe`."""

import sys

from catalog_probe.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

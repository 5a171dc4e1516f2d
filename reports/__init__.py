"""Telling what a run saw: pure views of its results.jsonl."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - so that `python -m reports` says one line
    raise ImportError(
        "catalog-probe needs Python 3.11 or newer; this is {}.{}".format(*sys.version_info), name=__name__
    )

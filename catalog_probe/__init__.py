"""A catalog of what generative-model APIs document, probes that check it, and a mock of four providers."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - so that `python -m catalog_probe` says one line
    raise ImportError(
        "catalog-probe needs Python 3.11 or newer; this is {}.{}".format(*sys.version_info), name=__name__
    )

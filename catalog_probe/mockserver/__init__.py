"""Four generative-model providers, simulated from their documents alone.

Run it with `catalog-probe mock`; `README.md` beside this file says how to add to it. Nothing here reads the
catalog: probe and mock may agree only because both agree with the documents.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - so that `catalog-probe mock` says one line
    raise ImportError(
        "catalog-probe needs Python 3.11 or newer; this is {}.{}".format(*sys.version_info), name=__name__
    )

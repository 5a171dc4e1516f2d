"""Asking a provider, and judging the answer."""

import os
import sys

# Before any import that would fail, so that there is one line and no traceback. Older Pythons must understand this.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.stderr.write("catalog-probe needs Python 3.11 or newer; this is {}.{}\n".format(*sys.version_info))
    raise SystemExit(4)
if os.name != "posix":
    sys.stderr.write(f"catalog-probe needs a POSIX system, as Linux, macOS or WSL; this is {sys.platform}\n")
    raise SystemExit(4)

"""Asking a provider, and judging the answer."""

import os
import sys

# before any import that would fail, so that there is one line and no traceback
if os.name != "posix":
    sys.stderr.write(f"catalog-probe needs a POSIX system, as Linux, macOS or WSL; this is {sys.platform}\n")
    raise SystemExit(4)

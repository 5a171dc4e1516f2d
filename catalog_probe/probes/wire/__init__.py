"""Sending a call and observing the answer: capped, classified, translated."""

import sys

# httpx as a library alone: its command line, where click and rich are installed, takes as long to import as all else
# of it, and 6 MB. The name is private: should it be another one some day, nothing is spared, and nothing breaks. To
# refuse click, which is public, while httpx is imported would import it here, for who only hides secrets as well.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # None: to import it is an ImportError

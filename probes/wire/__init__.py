"""Sending a call and observing the answer: capped, classified, translated, redacted before it leaves here."""

import sys

# httpx as a library alone: its command line, where click and rich are installed, takes as long to import as all else
# of it, and 6 MB. The name is private: under another one nothing would be spared, and nothing would break. What is public
# (to refuse click while httpx is imported) would need httpx imported here, also for who only hides secrets.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # None: to import it is an ImportError

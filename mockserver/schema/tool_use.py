"""Which of the tools that a request offers its model calls: the request decides, on every provider alike.

The model calls what it must, and what the user's last words name (`use get_weather`); several in parallel where several
are named. What it has called since those words it does not call again while there is anything else to call.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence


def called(
    offered: Sequence[str],
    said: str,
    *,
    must: Sequence[str] = (),
    already: Collection[str] = (),
    parallel: bool = True,
) -> list[str]:
    """The names of the tools that are called, in the order in which they are offered.

    Args:
        offered: what the model may call.
        said: the user's last words.
        must: those one of which it must call; empty where it may as well speak.
        already: those that it has called since the user said so.
        parallel: whether it may call several at once.
    """
    open_to_it = [name for name in must or offered if name not in already]
    named = [name for name in open_to_it if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)]
    wanted = named or ((open_to_it or list(must))[:1] if must else [])
    return wanted if parallel else wanted[:1]

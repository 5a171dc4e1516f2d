"""JSON as real servers read it: no NaN, no Infinity, no endless nesting."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def loads(raw: bytes | str) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: it is not JSON; the message says where.
    """
    text = raw if isinstance(raw, str) else raw.decode(json.detect_encoding(raw), "surrogatepass")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _parse_finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is out of range")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite)

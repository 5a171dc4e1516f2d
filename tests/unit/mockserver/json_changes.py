"""Changes of any value inside a JSON body, for properties over bodies."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Path = tuple[Any, ...]  # the keys and indexes that lead to a value

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def list_paths(value: Any, path: Path = ()) -> list[Path]:
    """List the path of every value inside a JSON value, its own first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner_path for key, inner in items for inner_path in list_paths(inner, (*path, key)))]


def replace_value(value: Any, path: Path, new: Any) -> Any:
    """Copy a JSON value with the value at a path replaced."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replace_value(value[path[0]], path[1:], new)
    return copy

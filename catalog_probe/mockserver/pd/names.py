"""Names on PD's wire. Its documents hide no header behind a prefix; only the gRPC package has a real name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS: Mapping[str, Any] = {"grpc_package": "pd_api"}
"""The stand-ins of the documents; a `--prefixes` file may replace them (see `core/prefixes.py`)."""

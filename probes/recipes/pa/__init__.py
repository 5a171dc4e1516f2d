"""How PA is provoked."""

from __future__ import annotations

from probes.recipes.pa import endpoints, general, invalid_request, outcomes
from probes.recipes.pa.requests import MODELS

FAMILIES = (endpoints, general, invalid_request, outcomes)

CONTROLS = {"inference": MODELS}

UNPROBED: dict[str, tuple[str, str]] = {
    "pa/errors/general/unprocessable": (
        "not-on-the-wire",
        "422 is a class of the SDKs; the documents list no such HTTP error, a client treats it as 400",
    ),
}

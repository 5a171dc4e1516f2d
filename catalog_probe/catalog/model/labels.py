"""The usual labels of exchanges: the step of the record that judges one, or its part in the probe."""

from __future__ import annotations

ANSWER = "answer"
"""The answer of an error record, and an ordinary answer of a rate-limit record."""

SUCCESS = "success"
"""The answer of an endpoint record, and of a rule that allows something."""

OWN_LABELS = frozenset({ANSWER, SUCCESS})
"""The answers that a record is about: without one of them it is not probed, whatever else was answered."""

CONTINUE = "continue"
"""The interim answer 100 to a body that was announced: its size is allowed (RFC 9110, 10.1.1)."""

STREAM = "stream"
"""The streamed form of an endpoint."""

MISSING_CREDENTIAL, WRONG_CREDENTIAL = "missing_credential", "wrong_credential"
"""The refusals of a request without a key, and of one with a key that was never issued."""

LIMITED = "limited"
"""The 429 beyond a limit, in rate-limit records."""

CONTROL, SETUP, CLEANUP = "control", "setup", "cleanup"

UNJUDGED_LABELS = frozenset({CONTROL, SETUP, CLEANUP})
"""Exchanges that serve other exchanges; no record judges them."""

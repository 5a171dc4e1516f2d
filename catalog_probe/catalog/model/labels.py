"""The labels of exchanges: by which expectation one is judged, or what its part in a probe is."""

from __future__ import annotations

ANSWER = "answer"
"""What an error record, and an ordinary answer of a rate-limit record, is judged by."""

SUCCESS = "success"
"""What an endpoint record, and a rule that allows something, is judged by."""

CONTINUE = "continue"
"""The answer of a rule that allows a body of some size: announced, it is asked for (RFC 9110, 10.1.1)."""

STREAM = "stream"
"""The streamed form of an endpoint."""

MISSING_CREDENTIAL, WRONG_CREDENTIAL = "missing_credential", "wrong_credential"
"""The refusals of an endpoint without a key and with one that nobody was given."""

LIMITED = "limited"
"""The answer beyond a limit, in rate-limit records: 429."""

CONTROL, SETUP, CLEANUP = "control", "setup", "cleanup"
"""Made for the sake of others, and never judged by a record."""

BESIDE = frozenset({CONTROL, SETUP, CLEANUP})

"""Published answers of PD that contradict the documents (2:7.6, 2:8.5)."""

from __future__ import annotations

from catalog_probe.mockserver.as_published.answers import Contradiction, RequestHead, WholeAnswer

LIMITS = {"requests": "1800", "tokens": "10000000"}  # a minute


def _refuse_without_credit(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """Depleted credit is 429 resource-exhausted (2:7.6); published: 403."""
    if answer.status != 429 or "prepaid credit" not in str((answer.json or {}).get("error")):
        return None
    return answer.replace(status=403, json_body={**answer.json, "code": "permission-denied"})


def _show_limits(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """No rate-limit header is named (2:8.5); published: x-ratelimit-* on success."""
    if answer.status != 200 or request.method != "POST":
        return None
    headers = {f"x-ratelimit-{part}-{unit}": value for unit, value in LIMITS.items() for part in ("limit", "remaining")}
    return answer.replace(headers=headers)


def _add_own_headers(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """No header is documented (2:7.6); published: duration and data retention."""
    return answer.replace(headers={"x-data-retention": "general", "x-metrics-e2e-ms": "3177.1"})


CONTRADICTIONS = (
    Contradiction("without_credit", _refuse_without_credit),
    Contradiction("limits_told", _show_limits),
    Contradiction("own_headers", _add_own_headers),
)

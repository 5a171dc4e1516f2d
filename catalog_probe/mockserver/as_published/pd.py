"""PD in the field: what published answers of it show, and the documents do not say (2:7.6, 2:8.5)."""

from __future__ import annotations

from catalog_probe.mockserver.as_published.answers import Answer, Asked, Contradiction

A_MINUTE = {"requests": "1800", "tokens": "10000000"}


def _without_credit(asked: Asked, answer: Answer) -> Answer | None:
    if answer.status != 429 or "prepaid credit" not in str((answer.json or {}).get("error")):
        return None
    return answer.but(status=403, json_body={**answer.json, "code": "permission-denied"})


def _limits_told(asked: Asked, answer: Answer) -> Answer | None:
    if answer.status != 200 or asked.method != "POST":
        return None
    told = {f"x-ratelimit-{part}-{what}": of for what, of in A_MINUTE.items() for part in ("limit", "remaining")}
    return answer.but(headers=told)


def _own_headers(asked: Asked, answer: Answer) -> Answer | None:
    return answer.but(headers={"x-data-retention": "general", "x-metrics-e2e-ms": "3177.1"})


CONTRADICTIONS = (
    Contradiction("without_credit", "429 resource-exhausted (2:7.6)", "403", _without_credit),
    Contradiction("limits_told", "no rate-limit header is named (2:8.5)", "x-ratelimit-* on success", _limits_told),
    Contradiction("own_headers", "no header is named (2:7.6)", "how long it took, and what is kept", _own_headers),
)

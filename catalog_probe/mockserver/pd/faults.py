"""PD's faults: citation of an error -> its row, or the scenario that causes it (2:7.6)."""

from __future__ import annotations

from catalog_probe.mockserver.core.faults import FaultTable, make_fault
from catalog_probe.mockserver.pd import errors

_ROWS: FaultTable = {
    "400 bad body": make_fault(errors.NO_MESSAGES),
    "400 bad URL": make_fault(errors.BAD_URL, reason="broken percent-encoding"),
    "400 parameter unsupported for the model": make_fault(errors.UNSUPPORTED_EFFORT),
    "400 incorrect API key": make_fault(errors.INCORRECT_KEY),
    "401 no Authorization header": make_fault(errors.NO_CREDENTIALS),
    "401 management API invalid bearer": make_fault(errors.INVALID_BEARER, within="/auth/"),
    "403 missing ACL": make_fault(errors.MISSING_ACL),
    "403 key disabled": make_fault(errors.KEY_DISABLED),
    "403 key blocked": make_fault(errors.KEY_BLOCKED),
    "403 team blocked": make_fault(errors.TEAM_BLOCKED),
    "403 zero-data-retention restriction": make_fault(errors.NOTHING_RETAINED),
    "403 feature restriction": make_fault(errors.NO_SUCH_FEATURE),
    "404 unknown path": make_fault(errors.UNKNOWN_PATH),
    "404 model missing": make_fault(errors.NO_SUCH_MODEL),
    "404 model restricted": make_fault(errors.NO_SUCH_MODEL),
    "404 regional host does not serve the model": make_fault(errors.NO_SUCH_MODEL),
    "405 wrong method": make_fault(errors.METHOD_NOT_ALLOWED),
    "415 wrong Content-Type": make_fault(errors.UNSUPPORTED_MEDIA_TYPE),
    "422 field of wrong type": make_fault(errors.WRONG_TYPE, field="temperature: ", line=1, column=40),
    "429 per-model rate limit": make_fault(errors.MODEL_REQUESTS),
    "429 per-model token limit": make_fault(errors.MODEL_TOKENS, number=1_000_000),
    "429 per-key cap": make_fault(errors.KEY_CAP, number=10),
    "429 depleted prepaid credit": make_fault(errors.NO_CREDIT),
    "500 server fault": "internal_error",
    "gRPC 3 INVALID_ARGUMENT": make_fault(errors.NO_MESSAGES),
    "gRPC 4 DEADLINE_EXCEEDED": "took_too_long",
    "gRPC 5 NOT_FOUND": make_fault(errors.NO_SUCH_MODEL),
    "gRPC 7 PERMISSION_DENIED": make_fault(errors.MISSING_ACL),
    "gRPC 8 RESOURCE_EXHAUSTED": make_fault(errors.MODEL_REQUESTS),
    "gRPC 13 INTERNAL": "internal_error",
    "gRPC 14 UNAVAILABLE": "service_unavailable",
    "gRPC 16 UNAUTHENTICATED": make_fault(errors.NO_CREDENTIALS),
}

ARMABLE_ERRORS: FaultTable = {
    **{f"2:7.6#{row}": fault for row, fault in _ROWS.items()},
    "2:7.1#400 bare JSON string": make_fault(errors.UNREADABLE),
    "2:8.1#deferred completion": make_fault(errors.NO_SUCH_RESULT),
}

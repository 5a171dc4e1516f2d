"""The rate-limit records have the numbers of 2:8, transcribed again by hand."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from catalog_probe.catalog.check.validate import check_catalog
from catalog_probe.catalog.model import Record
from catalog_probe.catalog.reading.rate_limits import rate_limits
from tests.harness.engines import catalog

CATALOG = catalog()
RECORDS = {record.provider: record for record in CATALOG.select(kind="rate_limits")}

PA_MESSAGES = "documented/messages/classes"
PC_ROWS = "per_model_documented_tiers"
NUMBERS: dict[str, dict[str, Any]] = {
    "pa": {
        "documented/tiers/start/monthly_spend_cap_usd": 500,
        "documented/tiers/build/monthly_spend_cap_usd": 1_000,
        "documented/tiers/scale/monthly_spend_cap_usd": 200_000,
        f"{PA_MESSAGES}/newest_large_family/tiers/start/input_tokens_per_minute": 500_000,
        f"{PA_MESSAGES}/newest_large_family/tiers/build/output_tokens_per_minute": 300_000,
        f"{PA_MESSAGES}/newest_large_family/tiers/scale/requests_per_minute": 4_000,
        f"{PA_MESSAGES}/other_classes/tiers/start/output_tokens_per_minute": 400_000,
        f"{PA_MESSAGES}/other_classes/tiers/build/requests_per_minute": 5_000,
        f"{PA_MESSAGES}/other_classes/tiers/scale/input_tokens_per_minute": 10_000_000,
        f"{PA_MESSAGES}/retired_small/tiers/start/output_tokens_per_minute": 20_000,
        f"{PA_MESSAGES}/retired_small/tiers/build/input_tokens_per_minute": 200_000,
        f"{PA_MESSAGES}/retired_small/tiers/scale/output_tokens_per_minute": 80_000,
        "documented/batches/tiers/build/queued_requests": 300_000,
        "documented/batches/requests_per_batch": 100_000,
        "documented/token_counting/tiers/scale/requests_per_minute": 20_000,
        "documented/files/requests_per_minute": 500,
        "documented/managed_agents/create/requests_per_minute": 300,
        "documented/managed_agents/read/requests_per_minute": 1_200,
        "documented/compliance/requests_per_minute": 600,
        "documented/priority/burn_down_rates/cache_write_5m": 1.25,
        "documented/priority/burn_down_rates/us_geo_on_newer_models": 1.1,
        "documented/constants/batches_body_mb": 256,
        "documented/constants/sdk/non_streaming_timeout_s": 10 * 60,
    },
    "pb": {
        "documented/tiers/tier_1/spend_cap": 250,
        "documented/tiers/tier_1/spend_per_window": 10,
        "documented/tiers/tier_2/cumulative_payment": 100,
        "documented/tiers/tier_2/days_since_first_payment": 3,
        "documented/tiers/tier_3/spend_cap": 20_000,
        "documented/tiers/tier_3/spend_cap_up_to": 100_000,
        "documented/tiers/tier_3/spend_cap_up_to_or_more": True,
        "documented/tiers/tier_3/spend_per_window": 200,
        "documented/spend_window/window_s": 10 * 60,
        "documented/priority_inference/share_of_standard_limit": 0.3,
        "documented/flex_inference/latency_max_s": 15 * 60,
        "documented/batch/enqueued_tokens/tier_1/least": 25_000,
        "documented/batch/enqueued_tokens/tier_1/least_is": "speech preview",
        "documented/batch/enqueued_tokens/tier_2/least_is": None,
        "documented/batch/enqueued_tokens/tier_2/embedding": 5_000_000,
        "documented/batch/enqueued_tokens/tier_3/most": 5_000_000_000,
        "documented/grounding/search_previous_generation/price_per_1000_beyond": 35,
        "documented/grounding/search_newer_models/shared": True,
        "documented/grounding/maps_newer_models/shared": None,
        "documented/grounding/maps_previous_generation/free_requests_pro": 10_000,
        "documented/constants/live_audio_video_session_s": 2 * 60,
        "documented/constants/live_resumption_handle_s": 2 * 60 * 60,
        "documented/constants/batch_input_file_gb": 2,
        "documented/constants/candidate_count_max": 8,
    },
    "pc": {
        "usage_tiers/0/monthly_usage_limit_usd": 100,
        "usage_tiers/2/paid_usd": 50,
        "usage_tiers/5/monthly_usage_limit_usd": 200_000,
        "documented/vector_store_ingestion/requests_per_minute": 300,
        "documented/ramp_rate/above_tokens_per_minute": 1_000_000,
        "documented/ramp_rate/growth_share": 0.5,
        "documented/long_context/above_input_tokens": 272_000,
        "documented/constants/websocket_connection_s": 60 * 60,
        f"{PC_ROWS}/older completion models/default/tiers/Tier 1/RPD": 10_000,
        f"{PC_ROWS}/older completion models/default/tiers/Tier 5/RPD": None,
        f"{PC_ROWS}/mid-size chat models/default/tiers/Tier 5/batch queue limit": 15_000_000_000,
        f"{PC_ROWS}/large chat models/default/tiers/Tier 5/TPM": 30_000_000,
        f"{PC_ROWS}/long-context variants/128k input/tiers/Tier 1/RPM": 100,
        f"{PC_ROWS}/image models/default/tiers/Tier 5/IPM": 250,
        f"{PC_ROWS}/image models/images per minute only/tiers/Free/IPM": 1,
        f"{PC_ROWS}/realtime models/default/tiers/Tier 1/TPM": 40_000,
        f"{PC_ROWS}/transcription and speech models/TPM from 10000/tiers/Tier 5/TPM": 6_000_000,
    },
    "pd": {
        "documented/per_model/dimensions": ["requests_per_second", "tokens_per_minute"],
        "documented/per_key/dimensions": ["qps", "qpm", "tpm"],
        "documented/batch_api/counts_toward_rate_limits": False,
        "documented/constants/deferred_completion_s": 24 * 60 * 60,
        "documented/constants/deferred_completion_fetches": 1,
        "documented/versioning/path_prefix": "/v1",
    },
}
"""Provider -> place in its record -> the value of the documents."""


def test_a_number_is_that_of_the_documents() -> None:
    for provider, place in [(provider, place) for provider, places in NUMBERS.items() for place in places]:
        value: Any = RECORDS[provider].data
        for part in place.split("/"):
            value = value[int(part)] if isinstance(value, list) else value[part]
        assert value == NUMBERS[provider][place]


def test_each_provider_has_one_record() -> None:
    assert {str(record.address) for record in RECORDS.values()} == {
        f"{provider}/rate_limits/limits/general" for provider in ("pa", "pb", "pc", "pd")
    }


def test_numbers_that_the_documents_lack_are_marked() -> None:
    for provider in sorted(RECORDS):
        assert RECORDS[provider].data["documented"]["not_shown"]


CODED = {record.data["code"]: record for record in CATALOG.select("pc", "errors") if record.data["http_status"] == 429}


def test_the_429s_of_pcs_limits_agree_with_their_records() -> None:
    for entry in RECORDS["pc"].data["errors"]:
        own = CODED[entry["code"]].data
        assert entry["type"] == own["type"]
        assert RECORDS["pc"].data["error_semantics_429"][entry["code"]]["retryable"] == own["retryable"]


def test_each_429_record_of_pc_is_named_in_its_limits() -> None:
    assert {entry["code"] for entry in RECORDS["pc"].data["errors"]} == set(CODED)


def test_retry_after_is_seconds_and_always_optional() -> None:
    """2:8.4 has Retry-After, in seconds, for 429; 2:7.5 says only that it may be present, of one."""
    for entry in RECORDS["pc"].data["error_semantics_429"].items():
        _, semantics = entry
        assert semantics["retry_after"] == "seconds, where it is present", entry


PROMISED = {
    "pa": [
        *(
            f"pa-ratelimit-{family}-{part}"
            for family in ("requests", "tokens", "input-tokens", "output-tokens")
            for part in ("limit", "remaining", "reset")
        ),
        *(
            f"pa-{mode}-{kind}-tokens-{part}"
            for mode in ("fast", "priority")
            for kind in ("input", "output")
            for part in ("limit", "remaining", "reset")
        ),
        "retry-after",
    ],
    "pb": ["*remaining*", "x-pb-service-tier", "retry-after"],
    "pc": [
        *(
            f"x-ratelimit-{part}-{family}"
            for family in ("requests", "tokens", "project-tokens")
            for part in ("limit", "remaining", "reset")
        ),
        "retry-after",
    ],
    "pd": ["*ratelimit*", "retry-after"],
}


def test_the_headers_are_those_of_the_documents() -> None:
    for provider in sorted(RECORDS):
        headers = RECORDS[provider].data["headers"]
        names = [header["name"] for header in headers] if isinstance(headers, list) else list(headers)
        assert names == PROMISED[provider]


def test_limits_name_the_tier_of_an_account() -> None:
    cases: list[tuple[str, dict[str, str], list[str]]] = [
        (
            "pa",
            {
                "pa-ratelimit-requests-limit": "4000",
                "pa-ratelimit-input-tokens-limit": "4000000",
                "pa-ratelimit-output-tokens-limit": "800000",
            },
            ["messages/classes/newest_large_family: scale"],
        ),
        ("pa", {"pa-ratelimit-requests-limit": "4001"}, []),
        ("pa", {"pa-ratelimit-requests-limit": "many"}, []),
        (
            "pc",
            {"x-ratelimit-limit-requests": "500", "x-ratelimit-limit-tokens": "30000"},
            ["large chat models/default: Tier 1"],
        ),
        ("pc", {}, []),
        ("pd", {"x-ratelimit-limit-requests": "500"}, []),
    ]
    for provider, headers, named in cases:
        assert rate_limits(RECORDS[provider]).matching_tiers(headers) == named


def misspell_each_key(value: Any) -> list[tuple[str, Any]]:
    """The same value with one key misspelt, for each key at any depth but those of rows and tables by name."""
    misspellings = []
    for key in value if isinstance(value, dict) else ():
        misspelled = {f"{name}x" if name == key else name: inner for name, inner in value.items()}
        misspellings.append((key, misspelled))
        for inner_key, inner in misspell_each_key(value[key]):
            misspellings.append((f"{key}/{inner_key}", {**value, key: inner}))
    return misspellings


def test_a_misspelt_key_is_refused_wherever_it_is() -> None:
    for provider in sorted(RECORDS):
        from tests.contract.catalog.test_schemas import validator

        whole, limits = validator("urn:catalog:rate_limits"), validator(f"urn:catalog:limits_{provider}")
        record = deepcopy(dict(RECORDS[provider].data))
        assert whole.is_valid(record), provider
        assert limits.is_valid(record["documented"]), provider
        changes = misspell_each_key(record["documented"])
        assert [place for place, changed in changes if limits.is_valid(changed)] == [], provider
        # A record's documented limits are held to that schema: its whole form, slow to check, refuses one as well.
        assert not whole.is_valid({**record, "documented": changes[-1][1]}), provider


def test_a_cause_of_429_names_a_record_that_exists(tmp_path: Any) -> None:
    from tests.unit.catalog.catalog_factories import LIMITS, make_small_catalog, write_catalog

    cause = {"meaning": "m", "retryable": True, "retry_after": "seconds"}
    content = make_small_catalog()
    content["pa/rate_limits.json"]["messages"] = {
        **LIMITS,
        "error_semantics_429": {"rate_limit": {**cause, "record": "pa/errors/general/rate_limits"}},
    }
    [problem] = check_catalog(write_catalog(tmp_path, content))
    assert problem.json_path == "$.error_semantics_429.rate_limit.record"


def test_a_record_with_another_providers_name_is_refused() -> None:
    from tests.contract.catalog.test_schemas import validator

    record = RECORDS["pa"]
    spoiled = Record(record.address, {**record.data, "provider": "PD"})
    assert not validator("urn:catalog:rate_limits").is_valid(dict(spoiled.data))

"""Records that one answer cannot tell apart are found from what they state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from catalog_probe.catalog.model import Address, Record
from catalog_probe.catalog.recognition.answer_patterns import Lookalikes
from tests.harness.engines import catalog

CATALOG = catalog()
ERRORS = CATALOG.select(kind="errors")
FOUND = Lookalikes.from_records(CATALOG.records)


def test_the_shipped_records_have_these_lookalikes() -> None:
    cases: list[tuple[str, list[str]]] = [
        # three of the tables of server tools share the code, which is all that an answer carries (2:7.3)
        (
            "pa/errors/server_tools/web_search_unavailable",
            ["pa/errors/server_tools/code_execution_unavailable", "pa/errors/server_tools/web_fetch_unavailable"],
        ),
        # the wording of 2:7.3 tells a key that is wrong from settings that need another one
        (
            "pa/errors/general/key_revoked",
            [
                "pa/errors/general/bad_request_signing",
                "pa/errors/general/key_expired",
                "pa/errors/general/key_malformed",
            ],
        ),
        # 1:5.2 leaves 400 or 403 to choice, so it may look like the refusals of either status
        (
            "pb/errors/general/invalid_api_key",
            [
                "pb/errors/general/api_not_enabled",
                "pb/errors/general/batch_input_file_too_large",
                "pb/errors/general/ephemeral_token_elsewhere",
                "pb/errors/general/key_blocked",
                "pb/errors/general/key_leaked",
                "pb/errors/general/key_restricted",
                "pb/errors/general/malformed_body",
                "pb/errors/general/out_of_range",
                "pb/errors/general/resource_not_owned",
                "pb/errors/general/temperature_out_of_range",
                "pb/errors/general/thinking_level_with_thinking_budget",
                "pb/errors/general/unknown_field",
            ],
        ),
        ("pc/errors/client/read_timeout", []),
    ]
    for address, others in cases:
        assert list(FOUND[address]) == others


def test_looking_alike_is_mutual_and_within_one_provider_and_surface() -> None:
    for record in ERRORS:
        for other in FOUND[record.address]:
            assert str(record.address) in FOUND[other]
            assert CATALOG[other].provider == record.provider
            assert CATALOG[other].surface == record.surface


PLAIN = CATALOG["pa/errors/general/conflict_uniqueness"]
STREAMED = CATALOG["pb/errors/live/connection_time_exceeded"]
NOT_CONNECTED = CATALOG["pc/errors/client/connect_timeout"]
GROUPED = CATALOG["pa/errors/compliance/transient_upstream"]


def copy_record(record: Record, **fields: Any) -> Record:
    """A record beside this one that states the same, but for these fields."""
    address = Address.parse(f"{record.provider}/errors/{record.address.family}/twin")
    return replace(record, address=address, data={**record.data, **fields})


def are_alike(record: Record, **fields: Any) -> bool:
    other = copy_record(record, **fields)
    return list(Lookalikes.from_records([record, other])[record.address]) == [str(other.address)]


def test_fields_that_are_not_sent_do_not_distinguish_records() -> None:
    cases: list[Record] = [PLAIN, STREAMED, NOT_CONNECTED, GROUPED]
    for record in cases:
        assert are_alike(record, name="Another", source="2:7.3#another", endpoints=[], note="Another.", example=None)


def test_each_field_that_is_sent_distinguishes_records() -> None:
    cases: list[tuple[Record, dict[str, Any]]] = [
        (PLAIN, {"http_status": 404}),
        (PLAIN, {"type": "another_error"}),
        (PLAIN, {"message_pattern": {"pattern": "another", "source": "2:7.3#another"}}),
        (PLAIN, {"fields": {"/error/details": False}}),
        (PLAIN, {"surface": "pa_stream"}),
        (STREAMED, {"stream": {"protocol": "websocket", "close_code": 1008}}),
        (STREAMED, {"stream": {"protocol": "websocket", "event": "another"}}),
        (NOT_CONNECTED, {"failure": "read-timeout"}),
        (GROUPED, {"http_status": "500/501"}),
    ]
    for record, fields in cases:
        assert not are_alike(record, **fields)


def test_a_code_that_the_surface_lacks_does_not_distinguish_records() -> None:
    assert are_alike(PLAIN, code="a_label_of_its_row")
    assert not are_alike(CATALOG["pc/errors/not_found/model"], code="another")


def test_field_order_does_not_distinguish_records() -> None:
    fields = {"/error/a": {"const": 1}, "/error/b": {"const": 2}}
    written = replace(PLAIN, data={**PLAIN.data, "fields": fields})
    assert are_alike(written, fields=dict(reversed(fields.items())))


def test_streams_are_distinguished_by_the_status_in_their_event() -> None:
    over_a_socket = CATALOG["pc/errors/websocket/connection_limit_reached"]
    assert are_alike(over_a_socket)
    assert not are_alike(over_a_socket, http_status=418)


def test_one_member_of_a_group_of_statuses_is_enough() -> None:
    assert are_alike(GROUPED, http_status=529)


def test_alternative_values_make_lookalikes() -> None:
    choice = {"answer/status": {"values": [409, 404], "source": "2:7.3#409"}}
    other = replace(copy_record(PLAIN), data={**PLAIN.data, "http_status": 404})
    assert not Lookalikes.from_records([PLAIN, other])[PLAIN.address]
    assert Lookalikes.from_records([replace(PLAIN, data={**PLAIN.data, "alternatives": choice}), other])[PLAIN.address]


def test_a_record_on_an_unknown_surface_has_no_lookalikes() -> None:
    lost = copy_record(PLAIN, surface="no_such_surface")
    assert Lookalikes.from_records([PLAIN, lost])[PLAIN.address] == ()
    assert Lookalikes.from_records([PLAIN, lost])[lost.address] == ()
    other = replace(copy_record(PLAIN), address=Address.parse("pa/errors/general/another"))
    assert Lookalikes.from_records([lost, PLAIN, other])[PLAIN.address] == (str(other.address),)

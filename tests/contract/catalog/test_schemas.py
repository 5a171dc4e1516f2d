"""The schemas accept what the documents say of records, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.schemas import KIND_SCHEMA, SCHEMAS, resolve_ref, schemas
from catalog_probe.catalog.writeback.writing import format_json, order_record_keys
from tests.contract.catalog.envelope_examples import ENVELOPES, without
from tests.contract.catalog.record_examples import BAD, GOOD
from tests.contract.catalog.stated_values import stated_facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Document 1, sections 2.1 to 2.3, in their order.
DOCUMENTED = {
    "endpoints": """
        provider api_family method path name description status auth beta_header request response streaming pagination
        idempotency sdk relations verification sources
    """.split(),
    "errors": """
        provider api_family http_status type code category message_semantics retryable recommended_action backoff
        observed_live example status observed live_messages live_examples response_headers source
    """.split(),
    "rate_limits": """
        record_type provider generated_at retrieved_at status sources documented observed_for_this_key
        error_semantics_429 headers concepts usage_tiers errors per_model_documented_tiers
    """.split(),
}
BASIS = {"assumed", "sources_of", "alternatives", "out_of_reach", "depends", "since", "until", "evidence"}
OURS = {
    "endpoints": {"surface", *BASIS, "note", "pinned", "pinned_reason"},
    "errors": BASIS.union(
        """
        name surface endpoints param message_pattern action_source advice fields stream causes same_body failure
        relations note pinned pinned_reason
        """.split()
    ),
    "rate_limits": {"name", *BASIS, "rules", "relations", "note", "pinned", "pinned_reason"},
}
REQUIRED = {
    "endpoints": {"provider", "method", "path", "status", "sources", "surface"},
    "errors": {"name", "surface", "endpoints", "source", "http_status", "type", "code", "retryable"},
    "rate_limits": {"record_type", "provider", "status", "sources", "documented"},
}
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "WS", "WEBRTC", "SIP", "SSE", "*"]
TAGS = "DOCUMENTED LIVE_VERIFIED LIVE_DISCOVERED LEGACY UNVERIFIED BETA ACCOUNT_RESTRICTED".split()
CATEGORIES = """
    invalid_request authentication auth permission not_found client rate_limit capacity overload server server_error
    timeout async policy reference content_safety
""".split()
ASPECTS = {"type", "code", "param", "message", "http_status", "request_id"}


def validator(urn: str) -> Draft202012Validator:
    resources = ((name, DRAFT202012.create_resource(schema)) for name, schema in schemas().items())
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(schemas()[urn], registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


def envelope(surface: str) -> Any:
    return schemas()[f"urn:catalog:envelope:{surface}"]


def subschemas(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each subschema that describes a value, with its location; conditions are left out."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for word in ("items", "additionalProperties"):
        yield from subschemas(schema.get(word), f"{place}/{word}")
    for word in ("allOf", "anyOf", "oneOf"):
        for number, inner in enumerate(schema.get(word, ())):
            yield from subschemas(inner, f"{place}/{word}/{number}")
    for word in ("properties", "$defs"):
        for name, inner in schema.get(word, {}).items():
            yield from subschemas(inner, f"{place}/{word}/{name}")


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def files() -> list[Path]:
    return sorted(SCHEMAS.rglob("*.json"))


def test_each_file_is_a_2020_12_schema() -> None:
    for schema in schemas().values():
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema", schema["$id"]
        Draft202012Validator.check_schema(schema)


def test_each_schema_has_title_and_description() -> None:
    assert [urn for urn, schema in schemas().items() if not (schema["title"] and schema["description"])] == []


def test_every_property_is_described() -> None:
    bare = [
        f"{urn}{place}/{word}/{name}"
        for urn in schemas()
        for place, schema in subschemas(schemas()[urn])
        for word in ("properties", "$defs")
        for name, property_schema in schema.get(word, {}).items()
        if not property_schema.get("description")
        and not (resolve_ref(property_schema.get("$ref", "urn:none"), urn) or ({}, ""))[0].get("description")
    ]
    assert bare == []


def test_every_reference_leads_somewhere() -> None:
    """An envelope refers only to itself, because the judge compiles it alone."""
    pairs = [(urn, ref) for urn in schemas() for ref in references(dict(schemas()[urn]))]
    assert pairs
    assert [(urn, ref) for urn, ref in pairs if resolve_ref(ref, urn) is None] == []
    prefixes = {urn: "#" if urn.startswith("urn:catalog:envelope:") else "urn:catalog:" for urn in schemas()}
    assert [(urn, ref) for urn, ref in pairs if not ref.startswith(prefixes[urn])] == []


def test_each_file_is_laid_out_as_records_are() -> None:
    for path in files():
        urn = f"urn:catalog:{path.stem}" if path.parent == SCHEMAS else f"urn:catalog:envelope:{path.stem}"
        assert path.read_text(encoding="utf-8") == format_json(dict(schemas()[urn])), path


def test_fields_are_those_of_the_documents_plus_ours() -> None:
    for kind in sorted(DOCUMENTED):
        properties = schemas()[KIND_SCHEMA[kind]]["properties"]
        assert [name for name in properties if name not in OURS[kind]] == DOCUMENTED[kind]
        assert set(properties) - set(DOCUMENTED[kind]) == OURS[kind]


def test_a_field_of_ours_says_so() -> None:
    for kind in sorted(DOCUMENTED):
        for name in OURS[kind]:
            field = schemas()[KIND_SCHEMA[kind]]["properties"][name]
            text = field.get("description") or resolve_ref(field["$ref"], KIND_SCHEMA[kind])[0]["description"]  # type: ignore[index] # every one that refers does so to a schema that is there
            assert text.endswith("Ours, not the documents'."), name


def test_required_fields() -> None:
    for kind in sorted(DOCUMENTED):
        assert set(schemas()[KIND_SCHEMA[kind]]["required"]) >= REQUIRED[kind]


def test_enumerations_have_all_words_of_the_documents() -> None:
    endpoint, error = schemas()["urn:catalog:endpoint"], schemas()["urn:catalog:error"]
    assert endpoint["properties"]["method"]["enum"] == METHODS
    assert error["properties"]["category"]["enum"] == CATEGORIES
    assert schemas()["urn:catalog:shared"]["$defs"]["status_tag"]["enum"] == TAGS


def test_unknown_fields_are_refused() -> None:
    """Every object is closed, at every depth, but those that 1:2.1 and 1:2.3 leave open. allOf adds only conditions."""
    open_objects = [
        f"{urn}{place}"
        for urn in schemas()
        if ":envelope:" not in urn
        for place, schema in subschemas(schemas()[urn])
        if "properties" in schema and schema.get("additionalProperties") is not False and "/allOf/" not in place
    ]
    assert [place.rpartition("/")[2] for place in open_objects] == [
        "request",
        "response",
        "streaming",
        "observed_for_this_key",
    ]


def test_a_good_record_is_accepted() -> None:
    for kind in sorted(DOCUMENTED):
        check = validator(KIND_SCHEMA[kind])
        assert [(record, error.message) for record in GOOD[kind] for error in check.iter_errors(record)] == []


def test_a_bad_record_is_refused() -> None:
    for kind in sorted(DOCUMENTED):
        check = validator(KIND_SCHEMA[kind])
        assert BAD[kind]
        assert [what for what, record in BAD[kind] if check.is_valid(record)] == []


def test_a_record_without_a_required_field_is_refused() -> None:
    for kind in sorted(DOCUMENTED):
        check, whole = validator(KIND_SCHEMA[kind]), GOOD[kind][0]
        less = {field: {name: value for name, value in whole.items() if name != field} for field in REQUIRED[kind]}
        assert [field for field, record in less.items() if check.is_valid(record)] == [], kind


def test_a_full_record_has_every_field_and_is_in_order() -> None:
    """The examples are written in the canonical order, so that they prove it."""
    for kind in sorted(DOCUMENTED):
        record = GOOD[kind][0]
        assert list(order_record_keys(dict(reversed(record.items())), kind)) == list(record)
        missing = set(schemas()[KIND_SCHEMA[kind]]["properties"]) - {name for example in GOOD[kind] for name in example}
        assert missing <= {"pinned_reason"}, kind


def test_every_envelope_has_examples() -> None:
    assert sorted(path.stem for path in (SCHEMAS / "envelopes").glob("*.json")) == sorted(ENVELOPES)


def test_an_envelope_accepts_documented_bodies() -> None:
    errors = [
        (surface, body, error.message)
        for surface, examples in ENVELOPES.items()
        for body in examples.good
        for error in Draft202012Validator(envelope(surface)).iter_errors(body)
    ]
    assert errors == []


def test_an_envelope_refuses_undocumented_bodies() -> None:
    accepted = [
        (surface, body)
        for surface, examples in ENVELOPES.items()
        for body in examples.bad
        if Draft202012Validator(envelope(surface)).is_valid(body)
    ]
    assert accepted == []


def test_an_envelope_accepts_new_fields() -> None:
    """New fields become `info` findings, because a provider may always add one."""

    def add_fields(body: Any) -> Any:
        if isinstance(body, dict):
            return {"something_new": 1, **{name: add_fields(value) for name, value in body.items()}}
        return [add_fields(item) for item in body] if isinstance(body, list) else body

    refused = [
        (surface, body)
        for surface, examples in ENVELOPES.items()
        for body in examples.good
        if not Draft202012Validator(envelope(surface)).is_valid(add_fields(body))
    ]
    assert refused == []


def test_an_envelope_locates_its_aspects() -> None:
    for surface, examples in ENVELOPES.items():
        schema = envelope(surface)
        assert schema["x-body"] in ("json", "text", "empty", "any"), surface
        assert set(schema["x-wire"]) <= ASPECTS, surface
        for aspect, pointer in schema["x-wire"].items():
            assert any(leads_somewhere(body, pointer) for body in examples.good), (surface, aspect)


def test_an_envelopes_assumptions_are_no_part_of_its_shape() -> None:
    for surface, examples in ENVELOPES.items():
        schema = envelope(surface)
        for pointer, why in schema.get("x-assumed", {}).items():
            assert why.endswith("."), ("a reason is a sentence", surface, why)
            assert any(leads_somewhere(body, pointer) for body in examples.good), (surface, pointer)
            names = pointer.split("/")[1:]
            less = [without(body, *names) for body in examples.good if names and leads_somewhere(body, pointer)]
            assert all(Draft202012Validator(schema).is_valid(body) for body in less), (surface, pointer)


def test_an_envelopes_relations_are_written_as_in_records() -> None:
    check = validator(KIND_SCHEMA["errors"])
    for surface in ENVELOPES:
        for relation in envelope(surface).get("x-relations", ()):
            record = {**GOOD["errors"][0], "relations": [{"label": "answer", **relation}]}
            assert check.is_valid(record), (surface, relation)
            assert relation["source"], (surface, relation)


def test_an_envelope_cites_rows_that_exist() -> None:
    rows = {provider: stated_facts(provider).by_row for provider in providers()}
    wrong = [
        (surface, row)
        for surface in ENVELOPES
        for row in envelope(surface)["x-source"]
        if row not in rows.get(surface.partition("_")[0], ())
    ]
    assert wrong == []


def leads_somewhere(body: Any, pointer: str) -> bool:
    for name in pointer.split("/")[1:]:
        if not isinstance(body, dict) or name not in body:
            return False
        body = body[name]
    return True

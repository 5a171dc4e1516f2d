"""A target follows its schema, or is refused in one line that shows no key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.files.schema_messages import find_complaints
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.probes.targets import shape
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost
from tests.unit.probes.test_target import find_refusal

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json

SCHEMA = read_object(shape.SCHEMA)
HOST = "https://pa.example"
PA: dict[str, Json] = {
    "base_url": HOST,
    "expected": True,
    "rate": 2,
    "concurrency": 4,
    "headers": {"pa-version": "2023-06-01"},
    "credentials": {"inference": "env:PA_KEY"},
    "values": {"small_model": "small"},
}


def make_target(**changes: Json) -> dict[str, Json]:
    """Return a target whose PA has these additional settings."""
    return {"name": "a", "live": True, "providers": {"pa": {**PA, **changes}}}


HEAD = f'[providers.pa]\nbase_url = "{HOST}"\n'

DAMAGED = [
    ("name = 3\n" + HEAD, "name: is 3; write a string"),
    ("name = []\n" + HEAD, "name: is []; write a string"),
    ('name = "a\\n"\n' + HEAD, 'name: "a\\n" has the wrong form'),
    ('live = "env:X"\n' + HEAD, 'live: is "env:X"; write true or false'),
    ('answered_by = "gatewy"\n' + HEAD, "did you mean gateway?"),
    ("answered_by = []\n" + HEAD, "answered_by: [] is none of provider"),
    ('answered_by = "mock"\n' + HEAD, "answered_by: mock does not go with live = true"),
    ('live = false\nanswered_by = "provider"\n' + HEAD, "answered_by: provider does not go with live = false"),
    ("allow = [3]\n" + HEAD, "allow[0]: 3 is none of free"),
    ('allow = ["free", "billabel"]\n' + HEAD, "allow[1]: "),
    ('allow = ["billabel"]\n' + HEAD, "did you mean billable?"),
    ("allow = {}\n" + HEAD, "allow: is {}; write a list"),
    ('reprobe_after_s = "5"\n' + HEAD, 'reprobe_after_s: is "5"; write a number'),
    ("reprobe_after_s = nan\n" + HEAD, "reprobe_after_s: should be 0 to 86400, not nan"),
    ("reprobe_after_s = inf\n" + HEAD, "reprobe_after_s: should be 0 to 86400, not inf"),
    ("reprobe_after_s = -inf\n" + HEAD, "reprobe_after_s: is -Infinity; write 0 or more"),
    ("provider = {}\n" + HEAD, "'provider' is no field here; did you mean providers?"),
    ("[providers]", "providers: {} is too short; give at least 1"),
    ("providers = []", "providers: is []; write an object"),
    ('[providers]\npa = "x"', 'providers.pa: is "x"; write an object'),
    ('[providers."p x"]', "providers.p x: no such provider; they are pa, pb, pc, pd"),
    ("[providers.pa]\nbase_url = 3", "providers.pa.base_url: is 3; write a string"),
    ('[providers.pa]\nbase_ulr = "x"', "providers.pa: 'base_ulr' is no field here; did you mean base_url?"),
    (HEAD + 'auth_url = "https://a.example"', "providers.pa.auth_url: is no address of pa; they are base_url"),
    (HEAD + 'auth_uri = "https://a.example"', "providers.pa: 'auth_uri' is no field here"),
    (HEAD + "rate = 0", "providers.pa.rate: is 0; write more than 0"),
    (HEAD + "rate = -0.5", "providers.pa.rate: is -0.5; write more than 0"),
    (HEAD + 'rate = "2"', 'providers.pa.rate: "2" has the wrong form'),
    (HEAD + "rate = []", "providers.pa.rate: is []; write a number or a string"),
    (HEAD + f"rate = 0x{'f' * 400}", "providers.pa.rate: should be 0.001 to 1000000, not 44462"),
    (HEAD + f"rate = 0x{'f' * 9000}", "broken TOML: "),
    (HEAD + f"rate = {'9' * 9000}", "broken TOML: "),
    (HEAD + "rate = 1e-320", "providers.pa.rate: should be 0.001 to 1000000, not 1e-320"),
    (HEAD + "timeout_s = 1e308", "providers.pa.timeout_s: should be 0.001 to 86400, not 1e+308"),
    (HEAD + "max_wait_s = 1e308", "providers.pa.max_wait_s: should be 0 to 604800, not 1e+308"),
    (HEAD + "concurrency = 10001", "providers.pa.concurrency: should be 1 to 10000, not 10001"),
    (HEAD + "max_requests = 1000000000001", "providers.pa.max_requests: should be 0 to 1000000000000, not 10"),
    (HEAD + "max_tokens = 1e300", "providers.pa.max_tokens: should be 0 to 1000000000000, not 1"),
    (HEAD + "max_body_bytes = 2147483648", "providers.pa.max_body_bytes: should be 1 to 2147483647, not 2147483648"),
    ("reprobe_after_s = 1e9\n" + HEAD, "reprobe_after_s: should be 0 to 86400, not 1000000000.0"),
    ("pending_days = 36501\n" + HEAD, "pending_days: should be 0 to 36500, not 36501"),
    (HEAD + "max_requests = -1", "providers.pa.max_requests: is -1; write 0 or more"),
    (HEAD + "max_tokens = 2.5", "providers.pa.max_tokens: is 2.5; write an integer or a string"),
    (HEAD + "max_body_bytes = inf", "providers.pa.max_body_bytes: is Infinity; write an integer or a string"),
    (HEAD + "max_wait_s = inf", "providers.pa.max_wait_s: should be 0 to 604800, not inf"),
    (HEAD + 'expected = "yes"', 'providers.pa.expected: "yes" has the wrong form'),
    (HEAD + "expected = 1", "providers.pa.expected: is 1; write true or false or a string"),
    (HEAD + "key_header = true", "providers.pa.key_header: is true; write a string"),
    (HEAD + "ca_file = 3", "providers.pa.ca_file: is 3; write a string"),
    (HEAD + 'ca_file = "no/such.pem"', "providers.pa.ca_file: there is no file 'no/such.pem'"),
    (HEAD + 'sdk_keys = "sk-canary"', "providers.pa.sdk_keys: is something else, not shown"),
    (HEAD + "values = []", "providers.pa.values: is []; write an object"),
    (HEAD + 'credentials = "sk-canary"', "providers.pa.credentials: is something else, not shown"),
    (HEAD + 'credentials = ["sk-canary"]', "providers.pa.credentials: is something else, not shown"),
    (HEAD + 'credentials = { inference = ["sk-canary"] }', "providers.pa.credentials.inference: is something else"),
    (HEAD + 'credentials = { "a b" = ["sk-canary"] }', "is something else, not shown"),
    (HEAD + 'credential = { inference = "sk-canary" }', "'credential' is no field here; did you mean credentials?"),
    (HEAD + 'headers = { a = { b = "sk-canary" } }', "providers.pa.headers.a: is something else"),
    (f"allow = {'[' * 300}{']' * 300}\n" + HEAD, "allow[0]: "),
    (f"allow = {'[' * 9000}{']' * 9000}\n" + HEAD, "broken TOML: "),
]


@pytest.mark.parametrize("text, message", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_target_is_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    refusal = find_refusal(tmp_path, text) or ""
    assert refusal.startswith(f"target {tmp_path / 'target.toml'}: ")
    assert message in refusal
    assert len(refusal.splitlines()) == 1
    assert "canary" not in refusal


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    role=st.text(max_size=5),
    shape_name=st.sampled_from(["list", "table", "deep"]),
    table=st.sampled_from(["headers", "credentials"]),
)
def test_no_complaint_shows_a_key(role: str, shape_name: str, table: str) -> None:
    key: dict[str, Json] = {"list": ["sk-canary"], "table": {"a": "sk-canary"}, "deep": {"a": [["sk-canary"]]}}
    complaint = shape.find_complaint(make_target(**{table: {role: key[shape_name]}}))
    assert complaint is not None
    assert "canary" not in " ".join(complaint)


def test_schema_is_valid_and_lists_all_settings() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    table: Any = SCHEMA["$defs"]["provider"]
    assert {*table["properties"]} == {*shape.SETTINGS, *shape.TABLES, shape.SDK_KEYS, shape.LOOK_UP, "base_url"}
    assert SCHEMA["properties"]["allow"]["items"]["enum"] == [*Cost]
    for name in providers():
        for address in manifest(name).addresses:
            assert find_complaints(make_target(**{address: HOST}), SCHEMA) == []


def test_float_integer_and_date_name_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "target.toml"
    path.write_text(f"name = 2026-11-21\n{HEAD}concurrency = 3.0\n")
    target = targets.load(str(path), {})
    assert target.name == "2026-11-21"
    assert repr(target.providers["pa"].concurrency) == "3"

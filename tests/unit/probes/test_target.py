"""Reading a target: each mistake gets one line with its location, and no key is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.files.schemas import find_complaints
from catalog_probe.probes.targets import target_file
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Target, TargetError, is_loopback
from catalog_probe.probes.targets.target_file import list_targets
from tests.harness.target_files import toml

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json


PA = '[providers.pa]\nbase_url = "https://pa.example/"\n'


def read_target(tmp_path: Path, text: str, **environ: str) -> Target:
    path = tmp_path / "target.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return targets.load(str(path), environ)


COSTS = (
    "free, billable, destructive, disruptive, slow; "
    "the schema says: A cost class says what a probe may do to the account"
)
NAMES = (
    "Letters, digits, blanks, dots, underscores and hyphens, beginning with a letter or digit, because it names files"
)
MISTAKES = [
    ("", "'providers' is missing; add 'providers'"),
    ("providers = 3", "providers: is 3; write an object"),
    ("[providers]\npa = 3", "providers.pa: is 3; write an object"),
    ("[providers.px]", "providers.px: no such provider; they are pa, pb, pc, pd"),
    ("[providers.pa]", "providers.pa: 'base_url' is missing; add 'base_url'"),
    ("liev = true\n" + PA, "'liev' is no field here; did you mean live?"),
    ('live = "yes"\n' + PA, 'live: is "yes"; write true or false'),
    ("live = 1\n" + PA, "live: is 1; write true or false"),
    (
        'allow = ["cheap"]\n' + PA,
        f'allow[0]: "cheap" is none of {COSTS}',
    ),
    (
        "allow = [[]]\n" + PA,
        f"allow[0]: [] is none of {COSTS}",
    ),
    ('allow = "free"\n' + PA, 'allow: is "free"; write a list'),
    ("reprobe_after_s = -1\n" + PA, "reprobe_after_s: is -1; write 0 or more"),
    (
        'name = "../elsewhere"\n' + PA,
        f'name: "../elsewhere" has the wrong form; the schema says: {NAMES}',
    ),
    (
        'name = ""\n' + PA,
        f'name: "" has the wrong form; the schema says: {NAMES}',
    ),
    (PA + "timeout = 3", "providers.pa: 'timeout' is no field here; did you mean timeout_s?"),
    (PA + "timeout_s = true", "providers.pa.timeout_s: is true; write a number or a string"),
    (PA + "timeout_s = 0", "providers.pa.timeout_s: is 0; write more than 0"),
    (PA + "timeout_s = inf", "providers.pa.timeout_s: should be 0.001 to 86400, not inf"),
    (PA + "rate = nan", "providers.pa.rate: should be 0.001 to 1000000, not nan"),
    (PA + "concurrency = 0", "providers.pa.concurrency: is 0; write more than 0"),
    (PA + "concurrency = 1.5", "providers.pa.concurrency: is 1.5; write an integer or a string"),
    (
        PA + "headers = { a = 3 }",
        "providers.pa.headers.a: is something else, not shown as it may be a key; write a string",
    ),
    (PA + 'headers = { a = "b\\nc" }', "providers.pa.headers.a: should be text that a header can carry"),
    (PA + "values = { small_model = 3 }", "providers.pa.values.small_model: is 3; write a string"),
    (
        PA + "credentials = { inference = 3 }",
        "providers.pa.credentials.inference: is something else, not shown as it may be a key; write a string",
    ),
    (
        PA + 'credentials = { inference = "sk-literal" }',
        'providers.pa.credentials.inference: a live target holds no keys; write "env:NAME" and set the variable',
    ),
    (
        PA + 'credentials = { inference = "env:BROKEN" }',
        "providers.pa.credentials.inference: BROKEN holds characters that no header can carry; set it anew",
    ),
    (
        '[providers.pa]\nbase_url = "pa.example"',
        "providers.pa.base_url: 'pa.example' is no address; it should read https://host[/prefix]",
    ),
    (
        '[providers.pa]\nbase_url = "https://"',
        "providers.pa.base_url: 'https://' is no address; it should read https://host[/prefix]",
    ),
    (
        '[providers.pa]\nbase_url = "https://[::1"',
        "providers.pa.base_url: 'https://[::1' is no address; it should read https://host[/prefix]",
    ),
    (
        '[providers.pa]\nbase_url = "https://a:b"',
        "providers.pa.base_url: 'https://a:b' is no address; it should read https://host[/prefix]",
    ),
    (
        '[providers.pa]\nbase_url = "embedded"',
        "providers.pa.base_url: 'embedded' is no address; it should read https://host[/prefix]",
    ),
    (
        '[providers.pa]\nbase_url = "http://pa.example"',
        "providers.pa.base_url: plain http to pa.example would show the key; use https",
    ),
    (
        '[providers.pa]\nbase_url = "http://127.0.0.1.evil.example"',
        "providers.pa.base_url: plain http to 127.0.0.1.evil.example would show the key; use https",
    ),
    (
        '[providers.pa]\nbase_url = "https://me:secret@pa.example"',
        "providers.pa.base_url: holds a password; put keys into credentials",
    ),
    (
        '[providers.pa]\nbase_url = "https://pa.example/pa?key=secret"',
        "providers.pa.base_url: holds a ? or a #, and paths are put behind it; put keys into credentials",
    ),
    *(
        (
            f'[providers.pd]\nbase_url = "https://pd.example"\ngrpc_host = "{host}"',
            f"providers.pd.grpc_host: '{host}' is no host; it should read host[:port]",
        )
        for host in ("https://pd.example", "pd.example:99999", "pd.example:", "pd.example/v1", "::1", "pd.example:a")
    ),
    (
        '[providers.pd]\nbase_url = "https://pd.example"\ngrpc_host = "me:secret@pd.example"',
        "providers.pd.grpc_host: holds a password; put keys into credentials",
    ),
    (
        '[providers.pa]\nbase_url = "env:SECRET"',
        "providers.pa.base_url: what SECRET holds is no address; it should read https://host[/prefix]",
    ),
]


def test_mistake_is_one_line_with_its_location(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text, message in MISTAKES:
        with subtests.test(text=text):
            with pytest.raises(TargetError) as error:
                read_target(tmp_path, text, BROKEN="sk-secret\x7f\x01", SECRET="sk-secret-in-the-wrong-place")
            assert str(error.value) == f"target {tmp_path / 'target.toml'}: {message}"
            assert "sk-secret" not in str(error.value)


def test_broken_toml_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text in ["live = [", "live = true\nlive = true", "\udcfe\udcfe"]:
        with subtests.test(text=text), pytest.raises(TargetError, match=r"target\.toml: broken TOML: "):
            read_target(tmp_path, text)


def test_folder_is_no_target(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="no target"):
        targets.load(str(tmp_path))


def test_shipped_target_loads_without_variables(subtests: pytest.Subtests) -> None:
    for name in list_targets():
        with subtests.test(name=name):
            target = targets.load(name, {})
            assert target.name == name
            assert target.live == (name != "mock")


def test_defaults_are_careful(tmp_path: Path) -> None:
    target = read_target(tmp_path, PA)
    assert target.live
    assert target.allow == {Cost.FREE}
    assert target.reprobe_after_s > 0
    assert target.providers["pa"].addresses == {"base_url": "https://pa.example"}
    assert not target.expected_providers


def test_key_comes_from_the_environment_and_is_not_shown(tmp_path: Path) -> None:
    text = PA + 'credentials = { inference = "env:PA_KEY", wrong = "env:NOBODY" }'
    provider = read_target(tmp_path, text, PA_KEY="sk-canary-123\n").providers["pa"]
    assert provider.credential("inference").value == "sk-canary-123"
    assert provider.credential("wrong").value is None
    assert provider.credential("other").value is None
    assert "sk-canary" not in repr(provider)


def test_is_loopback(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, bool]] = [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
        ("", False),
    ]
    for host, local in cases:
        with subtests.test(host=host):
            assert is_loopback(host) is local


SIMPLE = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False) | st.text(max_size=20)
VALUES = st.recursive(
    SIMPLE.filter(lambda value: value is not None), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
KEYS = st.sampled_from(
    [
        "base_url",
        "expected",
        "key_header",
        "headers",
        "credentials",
        "values",
        "concurrency",
        "rate",
        "timeout_s",
        "x\ny",
    ]
)
TOP = st.sampled_from(["name", "live", "allow", "reprobe_after_s", "liev"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    top=st.dictionaries(TOP, VALUES, max_size=3),
    pa=st.dictionaries(KEYS, VALUES | st.dictionaries(st.sampled_from(["inference", "a"]), VALUES), max_size=4),
)
def test_any_target_is_read_or_refused_in_one_line(top: dict[str, Any], pa: dict[str, Any], tmp_path: Path) -> None:
    text = toml({**top, "providers": {"pa": {"base_url": "https://pa.example", **pa}}})
    message = find_refusal(tmp_path, text)
    assert message is None or message.startswith(f"target {tmp_path}")
    assert message is None or len(message.splitlines()) == 1


def find_refusal(tmp_path: Path, text: str) -> str | None:
    """Return the error of reading the text as a target, or None."""
    try:
        read_target(tmp_path, text)
    except TargetError as error:
        return str(error)
    return None


def test_sdk_key_counts_as_the_first_credential() -> None:
    target = targets.load("live", {"OPENAI_API_KEY": "sk-canary-of-nobody", "GEMINI_API_KEY": " "})
    provider = target.providers["pc"]
    assert (provider.used_sdk_key, provider.expected) == ("OPENAI_API_KEY", True)
    assert provider.credential("inference").value == "sk-canary-of-nobody"
    assert target.providers["pb"].used_sdk_key == ""
    own = targets.load("live", {"OPENAI_API_KEY": "sk-canary-of-nobody", "PC_API_KEY": "sk-own-key-of-the-run"})
    assert own.providers["pc"].used_sdk_key == ""
    assert own.providers["pc"].credential("inference").value == "sk-own-key-of-the-run"


@pytest.mark.parametrize("variable", ["PC_BASE_URL", "PC_AUTH_URL", "OPENAI_BASE_URL"])
def test_sdk_key_does_not_count_while_another_server_is_named(variable: str) -> None:
    environ = {"OPENAI_API_KEY": "sk-canary-of-nobody", "GEMINI_API_KEY": " ", variable: "https://gateway.example"}
    target = targets.load("live", environ)
    advice = f"set PC_API_KEY to what OPENAI_API_KEY holds, which does not count while {variable} is set"
    assert target.providers["pc"].advise_missing("credentials.inference", "live") == advice
    assert target.providers["pc"].advise_missing("credentials.admin", "live") == "set PC_ADMIN_KEY"
    assert target.providers["pb"].advise_missing("credentials.inference", "live") == "set PB_API_KEY"
    assert {"OPENAI_API_KEY", "GEMINI_API_KEY", "PC_API_KEY"} <= target.secret_variables
    assert not target.providers["pc"].is_configured
    assert "canary" not in repr(target)


def test_first_empty_key_is_reported(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"PA_API_KEY": ""}, "PA_API_KEY is set but empty; set it to the key, or unset it"),
        (
            {"PA_API_KEY": "", "ANTHROPIC_API_KEY": "sk-canary-of-nobody"},
            "PA_API_KEY is set but empty; set it to what ANTHROPIC_API_KEY holds, or unset it",
        ),
        (
            {"PA_ADMIN_KEY": "", "PA_COMPLIANCE_KEY": ""},
            "PA_ADMIN_KEY is set but empty; set it to the key, or unset it",
        ),
    ]
    for environ, advice in cases:
        with subtests.test(environ=environ):
            pa = targets.load("live", environ).providers["pa"]
            assert pa.advise_missing(pa.first_gap, "live") == advice


OWN = "http://127.0.0.1:8765"


def test_main_address_of_ones_own_withholds_every_other_default(subtests: pytest.Subtests) -> None:
    for provider in ["pa", "pb", "pc", "pd"]:
        with subtests.test(provider=provider):
            read = targets.load("live", {f"{provider.upper()}_BASE_URL": OWN}).providers[provider]
            assert read.addresses == {"base_url": OWN}
            assert not read.variables.withheld & read.variables.defaulted
            for service in read.variables.withheld:
                variable = f"{provider.upper()}_{service.upper()}"
                advice = (
                    f"set {variable}; its default is not asked while {provider.upper()}_BASE_URL names another server"
                )
                assert read.advise_missing(service, "live") == advice


def test_other_address_that_is_set_is_asked_beside_a_main_one_of_ones_own() -> None:
    pd = targets.load("live", {"PD_BASE_URL": OWN, "PD_GRPC_HOST": "127.0.0.1:50051"}).providers["pd"]
    assert pd.addresses == {"base_url": OWN, "grpc_host": "127.0.0.1:50051"}
    assert pd.variables.withheld == {"management_url", "regional_base_url"}


def test_defaults_are_asked_while_the_main_address_is_the_default(subtests: pytest.Subtests) -> None:
    cases: list[dict[str, str]] = [{}, {"PC_BASE_URL": ""}, {"PC_BASE_URL": "https://api.openai.com/"}]
    for environ in cases:
        with subtests.test(environ=environ):
            pc = targets.load("live", environ).providers["pc"]
            assert pc.addresses.keys() == {"base_url", "auth_url", "mtls_auth_url"}
            assert not pc.variables.withheld


def test_target_that_states_its_main_address_keeps_its_other_defaults(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Its author wrote both addresses, so both are meant."""
    for main in ["https://pc.example", "env:PC_MAIN"]:
        with subtests.test(main=main):
            text = f'[providers.pc]\nbase_url = "{main}"\nauth_url = "env:PC_AUTH|https://auth.example"\n'
            pc = read_target(tmp_path, text, PC_MAIN="https://pc.example").providers["pc"]
            assert pc.addresses == {"base_url": "https://pc.example", "auth_url": "https://auth.example"}


SCHEMA = read_object(target_file.SCHEMA)
HOST = "https://pa.example"
PA_FIELDS: dict[str, Json] = {
    "base_url": HOST,
    "expected": True,
    "rate": 2,
    "concurrency": 4,
    "headers": {"pa-version": "2023-06-01"},
    "credentials": {"inference": "env:PA_KEY"},
    "values": {"small_model": "small"},
}


def make_target(**changes: Json) -> dict[str, Json]:
    """Return a target whose PA_FIELDS has these additional settings."""
    return {"name": "a", "live": True, "providers": {"pa": {**PA_FIELDS, **changes}}}


HEAD = f'[providers.pa]\nbase_url = "{HOST}"\n'

DAMAGED = [
    ("name = 3\n" + HEAD, "name: is 3; write a string"),
    ("name = []\n" + HEAD, "name: is []; write a string"),
    ('name = "a\\n"\n' + HEAD, 'name: "a\\n" has the wrong form'),
    ('live = "env:X"\n' + HEAD, 'live: is "env:X"; write true or false'),
    ('answered_by = "gatewy"\n' + HEAD, "did you mean gateway?"),
    ("answered_by = []\n" + HEAD, "answered_by: [] is none of provider"),
    ('answered_by = "mock"\n' + HEAD, "answered_by: mock does not go with live = true"),
    ('leave_out = ["status"]\n' + HEAD, "leave_out: only a compatible server may leave out layers, not a provider"),
    ('leave_out = ["vendor"]\nanswered_by = "compatible"\n' + HEAD, 'leave_out[0]: "vendor" is none of status'),
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
    complaint = target_file.find_complaint(make_target(**{table: {role: key[shape_name]}}))
    assert complaint is not None
    assert "canary" not in " ".join(complaint)


def test_schema_is_valid_and_lists_all_settings() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    table: Any = SCHEMA["$defs"]["provider"]
    assert {*table["properties"]} == {
        *target_file.SETTINGS,
        *target_file.TABLES,
        target_file.SDK_KEYS,
        target_file.SDK_SERVERS,
        target_file.LOOK_UP,
        "base_url",
    }
    assert SCHEMA["properties"]["allow"]["items"]["enum"] == [*Cost]
    for name in providers():
        for address in manifest(name).addresses:
            assert find_complaints(make_target(**{address: HOST}), SCHEMA) == []


def test_float_integer_and_date_name_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "target.toml"
    path.write_text(f"name = 2026-11-21\n{HEAD}concurrency = 3.0\n")
    target = targets.load(str(path), {})
    assert target.name == "2026-11-21"
    assert repr(target.providers["pa"].limits.concurrency) == "3"

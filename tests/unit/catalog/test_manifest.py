"""Provider manifest: what is read, and each mistake as one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.check.validate import MANIFEST_SCHEMA, Problem, check_manifest
from catalog_probe.catalog.files.manifest import Control, manifest, read_manifest, require_provider
from catalog_probe.catalog.files.provider_folders import provider_names
from catalog_probe.catalog.files.schemas import surfaces_with_envelope, validator_of
from catalog_probe.catalog.model.errors import CatalogError

if TYPE_CHECKING:
    from pathlib import Path

SOUND = """\
name = "pe"
about = "a provider for tests"

[stand_ins]
header_prefix = "pe-"
key_header = "authorization"
key_scheme = "Bearer"

[surfaces]
default = "json"

[addresses]
base_url = "the API"
admin_url = "the admin API"

[grpc]
0 = 200
5 = 404

[roles]
inference = "what most records need"
admin = "reads the organization"

[controls.inference]
method = "GET"
path = "/v1/models"
query = { limit = "1" }
proof = ["/data"]

[controls.admin]
method = "GET"
path = "/v1/me"
address = "admin_url"
proof = []
"""


def write_manifest(folder: Path, text: str = SOUND) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "pe.toml"
    file.write_text(text, encoding="utf-8")
    return file


def check_lines(file: Path) -> list[str]:
    """The complaints about a manifest, as a check prints them."""
    validator = validator_of(MANIFEST_SCHEMA)
    assert validator is not None
    return [
        str(Problem(file, "", *complaint)) for complaint in check_manifest(file, validator, surfaces_with_envelope())
    ]


def test_a_manifest_in_a_folder_makes_a_provider(tmp_path: Path) -> None:
    write_manifest(tmp_path)
    (tmp_path / ".pf.toml.tmp").touch()
    (tmp_path / "README.md").touch()
    assert provider_names(tmp_path) == ("pe",)


def test_a_key_may_travel_in_the_query_and_has_no_header_then(tmp_path: Path) -> None:
    by_query = SOUND.replace('key_header = "authorization"\nkey_scheme = "Bearer"', 'key_query = "key"')
    stand_ins = read_manifest(write_manifest(tmp_path, by_query)).stand_ins
    assert (stand_ins.key_query, stand_ins.key_header) == ("key", "")
    nowhere = SOUND.replace('key_header = "authorization"', "")
    with pytest.raises(CatalogError, match="key_header"):
        read_manifest(write_manifest(tmp_path / "other", nowhere))


def test_every_field_is_read(tmp_path: Path) -> None:
    manifest_read = read_manifest(write_manifest(tmp_path))
    assert (manifest_read.stand_ins.header_prefix, manifest_read.stand_ins.id_prefix) == ("pe-", "")
    assert (manifest_read.stand_ins.key_header, manifest_read.stand_ins.key_scheme) == ("authorization", "Bearer")
    assert manifest_read.surfaces == ("json",)
    assert manifest_read.grpc == {0: 200, 5: 404}
    assert set(manifest_read.roles) == {"inference", "admin"}
    assert manifest_read.controls == {
        "inference": Control("GET", "/v1/models", (("limit", "1"),), "base_url", ("/data",)),
        "admin": Control("GET", "/v1/me", (), "admin_url", ()),
    }


def test_optional_fields_are_empty_by_default(tmp_path: Path) -> None:
    manifest_read = read_manifest(write_manifest(tmp_path))
    assert (manifest_read.request_id, manifest_read.account_headers, manifest_read.stream_end) == ("", (), frozenset())


def test_an_unknown_provider_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(CatalogError, match=r"^no provider is called 'nobody'; they are pa \(anthropic\), "):
        manifest("nobody")


MISTAKES = [
    ('name = "pe"\n', "", "$: 'name' is missing; add 'name'"),
    ('key_header = "authorization"\n', "", "$.stand_ins: 'key_header' is missing; add 'key_header'"),
    ('proof = ["/data"]\n', "", "$.controls.inference: 'proof' is missing; add 'proof'"),
    ('base_url = "the API"\n', "", "$.addresses: 'base_url' is missing; add 'base_url'"),
    ('"pe-"', "3", "$.stand_ins.header_prefix: is 3; write a string"),
    (
        '"pe-"',
        '"PE-"',
        '$.stand_ins.header_prefix: "PE-" has the wrong form; the schema says: The prefix of its own headers',
    ),
    ('["/data"]', '"/data"', '$.controls.inference.proof: is "/data"; write a list'),
    ('["/data"]', '["data"]', '$.controls.inference.proof[0]: "data" has the wrong form; the schema says: A JSON'),
    ("5 = 404", '5 = "404"', "$.grpc['5']: is \"404\"; write an integer"),
    ("5 = 404", "17 = 404", '$.grpc: "17" has the wrong form'),
    ("about = ", "abuot = ", "$: 'about' is missing; add 'about'"),
    ("header_prefix", "header_perfix", "$.stand_ins: 'header_perfix' is no field here; did you mean header_prefix?"),
    (
        '"GET"\npath = "/v1/me"',
        '"FETCH"\npath = "/v1/me"',
        '$.controls.admin.method: "FETCH" is none of GET, HEAD, POST',
    ),
    (
        "[grpc]",
        '[revisions]\nheader = "pe-version"\nvalues = ["1", "2"]\ndefault = "3"\n[grpc]',
        "$.revisions.default: '3' is none of the values",
    ),
    ("[grpc]", '[revisions]\nvalues = ["1"]\ndefault = ""\n[grpc]', "$.revisions: "),
    ('name = "pe"', 'name = "pf"', "$.name: 'pf' is not what the file is called; write 'pe', or move the file"),
    ('default = "json"', 'default = "jsno"', "$.surfaces.default: 'jsno' has no envelope schema; did you mean json?"),
    (
        'default = "json"',
        'default = "json"\nothers = ["pe_stream"]',
        "$.surfaces.others[0]: 'pe_stream' has no envelope schema; ",
    ),
    (
        "[roles]",
        '[account]\ntrouble = ["pf/errors/a/b"]\n\n[roles]',
        "$.account.trouble[0]: 'pf/errors/a/b' is not of pe; begin it with pe/",
    ),
    ("[roles]", '[wording]\n"pf/errors/a/b" = "x"\n\n[roles]', "$.wording: 'pf/errors/a/b' is no error of pe; "),
    (
        "[roles]",
        '[wording]\n"pe/errors/a/b" = "(x"\n\n[roles]',
        "$.wording.pe/errors/a/b: is no regular expression (missing ), unterminated subpattern at position 0); "
        "correct it",
    ),
    (
        "[roles]",
        '[account]\ncredit_message = "("\n\n[roles]',
        "$.account.credit_message: is no regular expression: missing ), unterminated subpattern at position 0",
    ),
    ("[controls.admin]", "[controls.amdin]", "$.controls.amdin: 'amdin' is no role; did you mean admin?"),
    ('"admin_url"\n', '"auth_url"\n', "$.controls.admin.address: 'auth_url' is no address; "),
    (
        "[grpc]",
        '[hosts]\n"pe/endpoints/x/y" = "auth_url"\n[grpc]',
        "$.hosts.pe/endpoints/x/y: 'auth_url'",
    ),
    (
        "[grpc]",
        '[hosts]\n"pa/endpoints/x/y" = "base_url"\n[grpc]',
        "$.hosts: 'pa/endpoints/x/y' is no endpoint of pe; ",
    ),
    ("[grpc]", "[grpc", "is not TOML ("),
    ('"a provider for tests"', "2026-11-21T06:00:00Z", "$.about: is datetime.datetime("),
]


def test_a_sound_manifest_has_no_problem(tmp_path: Path) -> None:
    assert check_lines(write_manifest(tmp_path)) == []


def test_a_broken_manifest_is_an_error_with_file_location_and_remedy(tmp_path: Path) -> None:
    for sound, broken, line in MISTAKES:
        assert SOUND.count(sound) == 1
        messages = check_lines(write_manifest(tmp_path, SOUND.replace(sound, broken)))
        assert any(f"pe.toml: {line}" in message for message in messages), messages
        assert all("\n" not in message and "; " in message for message in messages), sound


def test_every_command_refuses_a_broken_manifest_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str]] = [
        ('key_header = "authorization"\n', "", r"pe\.toml:\$\.stand_ins: 'key_header' is missing; add 'key_header'"),
        ('"pe-"', "3", r"pe\.toml:\$\.stand_ins\.header_prefix: is 3; write a string"),
        ('["/data"]', "[5]", r"pe\.toml:\$\.controls\.inference\.proof\[0\]: is 5; write a string"),
        ("5 = 404", "five = 404", r"pe\.toml:\$\.grpc\.five: is no gRPC status; write a number, 0 to 16"),
        ("[grpc]", "[grpc", r"pe\.toml: is not TOML \("),
    ]
    for sound, broken, line in cases:
        with subtests.test(sound), pytest.raises(CatalogError, match=line):
            read_manifest(write_manifest(tmp_path, SOUND.replace(sound, broken)))


def test_a_provider_goes_by_its_name_and_by_its_real_name_in_any_case() -> None:
    names = ("pa", "PC", "anthropic", "OpenAI", "gemini", "xai")
    assert [require_provider(name) for name in names] == ["pa", "pc", "pa", "pc", "pb", "pd"]
    with pytest.raises(CatalogError, match=r"^no provider is called 'openia'; did you mean openai\?$"):
        require_provider("openia")

"""Loading records, and how mistakes in their files are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.store import Catalog, UnknownAddressError, family_file
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.errors import CatalogError
from tests.unit.catalog.catalog_factories import ENDPOINT_ADDRESS, ERROR_ADDRESS, make_small_catalog, write_catalog

if TYPE_CHECKING:
    from pathlib import Path


def test_loads_every_record_in_the_order_of_files(tmp_path: Path) -> None:
    catalog = Catalog.load(write_catalog(tmp_path))

    assert [str(address) for address in catalog] == [
        ENDPOINT_ADDRESS,
        ERROR_ADDRESS,
        "pa/errors/general/acceleration_limit",
        "pa/rate_limits/limits/messages",
    ]
    assert catalog.root == tmp_path
    assert catalog.file_of(ERROR_ADDRESS) == tmp_path / "pa" / "errors" / "general.json"


def test_finds_a_record_by_text_or_address(tmp_path: Path) -> None:
    catalog = Catalog.load(write_catalog(tmp_path))

    assert catalog[ERROR_ADDRESS] is catalog[Address.parse(ERROR_ADDRESS)]
    is_known: dict[object, bool] = {ERROR_ADDRESS: True, "pa/errors/general/other": False, "no address": False}
    assert {address: address in catalog for address in is_known} == is_known
    assert [record.kind for record in catalog.select("pa", "endpoints")] == ["endpoints"]
    assert catalog.select("pb") == ()


def test_every_record_is_found_where_its_file_should_be(tmp_path: Path) -> None:
    catalog = Catalog.load(write_catalog(tmp_path))

    assert all(family_file(tmp_path, address) == catalog.file_of(address) for address in catalog)


def test_an_unknown_address_comes_with_suggestions(tmp_path: Path) -> None:
    catalog = Catalog.load(write_catalog(tmp_path))

    with pytest.raises(UnknownAddressError, match="did you mean pa/errors/general/rate_limit_error"):
        catalog["pa/errors/general/rate_limit_eror"]


def test_the_digest_depends_on_content_and_not_on_formatting(tmp_path: Path) -> None:
    first = Catalog.load(write_catalog(tmp_path / "a")).digest
    root = write_catalog(tmp_path / "b")
    file = root / "pa" / "endpoints" / "messages.json"
    file.write_text(file.read_text().replace("  ", "\t"))
    assert Catalog.load(root).digest == first

    file.write_text(file.read_text().replace("/v1/messages", "/v1/other"))
    assert Catalog.load(root).digest != first


def test_hidden_files_and_discoveries_are_no_records(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    (root / ".cache").mkdir()
    (root / "pa" / "errors" / ".general.json.abc.tmp").write_text("{")
    (root / "pa" / "discovered.json").write_text("{}")

    assert len(Catalog.load(root)) == 4


def test_a_broken_file_is_an_error_of_one_line_with_its_location(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str]] = [
        ("pa/errors/general.json", '{"a": {},}', "general.json:1:9: is not JSON (a trailing comma)"),
        ("pa/errors/general.json", '{"a": [1,\n]}', "general.json:1:9: is not JSON (a trailing comma)"),
        ("pa/errors/general.json", '{"a": {},,"b": {}}', "general.json:1:10: is not JSON (Expecting property name"),
        ("pa/errors/general.json", '{"a": {}', "general.json:1:9: is not JSON (Expecting ',' delimiter)"),
        ("pa/errors/general.json", '{"a": [1 2]}', "general.json:1:10: is not JSON (Expecting ',' delimiter)"),
        ("pa/errors/general.json", '{\n  "a": {},\n  "a": {}\n}', "general.json:3: 'a' occurs twice"),
        ("pa/errors/general.json", '{"a": {"x": 1, "x": 2}}', "'x' occurs twice"),
        ("pa/errors/general.json", "[]", "should hold one JSON object"),
        ("pa/errors/general.json", '{"a": []}', "general.json:a: a record should be an object"),
        ("pa/errors/general.json", '{"A b": {}}', "is no name for a record"),
        ("pa/errors/Big.json", '{"a": {}}', "is no name for a record"),
        ("pa/errors/general.json", '{"a": {"x": NaN}}', "NaN is no JSON value"),
        ("pa/errors/general.json", "[" * 100_000, "is not JSON"),
        (
            "pa/errors/general.json",
            '{"a": {"evidence": {"schema_version": 2}}}',
            "general.json:a: $.evidence.schema_version: its evidence has schema version 2, and this catalog-probe "
            "reads version 1; read it with the catalog-probe that wrote it, or remove the evidence",
        ),
        ("pa/errors/general.json", '{"a": {"evidence": {}}}', "its evidence has no schema version"),
        ("pa/mistakes/general.json", "{}", "no kind of record has this name"),
        ("pa/general.json", "{}", "does not belong here"),
        ("px/errors/general.json", "{}", "no provider has this name"),
    ]
    for number, (name, text, message) in enumerate(cases):
        with subtests.test(message):
            root = write_catalog(tmp_path / str(number))
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)

            with pytest.raises(CatalogError) as caught:
                Catalog.load(root)
            assert message in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_file_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    (root / "pa" / "errors" / "general.json").write_bytes(b'{"a": {"name": "\xff"}}')

    with pytest.raises(CatalogError, match="byte 16: is not UTF-8"):
        Catalog.load(root)


def test_reading_on_names_all_mistakes_and_keeps_the_rest(tmp_path: Path) -> None:
    content = make_small_catalog()
    root = write_catalog(tmp_path, content)
    (root / "pa" / "errors" / "general.json").write_text("{")
    (root / "pa" / "rate_limits.json").write_text("nonsense")

    catalog, errors = Catalog.load_readable(root)

    assert len(errors) == 2
    assert [str(address) for address in catalog] == [ENDPOINT_ADDRESS]

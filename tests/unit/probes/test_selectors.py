"""What a person names by hand and the catalog does not have: told with what comes nearest."""

from __future__ import annotations

import pytest

from catalog_probe.probes.plugin.collection.options_table import UsageError
from catalog_probe.probes.plugin.collection.selectors import list_unknown_words, require_records
from catalog_probe.reports.content.commands import build_nodeid
from tests.harness.engines import catalog

A_RECORD = "pa/errors/general/unknown_model"
RIGHT = f"probes/test_errors.py::test_error[{A_RECORD}]"


@pytest.mark.parametrize("prefix", ["", "/somewhere/else/", "../"])
def test_the_probe_of_every_record_may_be_named(prefix: str) -> None:
    require_records([f"{prefix}{build_nodeid(record.address)}" for record in catalog().records], catalog())
    require_records(["probes", "probes/test_errors.py", "probes/test_errors.py::test_error"], catalog())


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (f"probes/test_errors.py::test_error[{A_RECORD}s]", A_RECORD),
        ("probes/test_errors.py::test_error[nothing/like/it/anywhere]", "`catalog-probe catalog find WORDS`"),
        (f"probes/test_eror.py::test_error[{A_RECORD}]", f"write `pytest '{RIGHT}'`"),
        (f"probes/test_errors.py::test_endpoint[{A_RECORD}]", "not the probe of this record"),
    ],
)  # fmt: skip
def test_a_slip_in_a_node_id_is_told_with_what_was_meant(named: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        require_records([named], catalog())
    assert told in str(error.value).removeprefix(named)
    assert "\n" not in str(error.value)


def test_of_an_expression_the_words_that_no_record_has_are_told() -> None:
    assert list_unknown_words("unknwon_model and not 429", catalog()) == [
        "-k unknwon_model: no record has it; did you mean unknown_model?"
    ]
    assert list_unknown_words("unknown_model or (GET and 429)", catalog()) == []
    assert "did you mean pb/errors/general" in list_unknown_words("pb/errors/genral", catalog())[0]
    assert list_unknown_words("pb/errors/general", catalog()) == []
    assert "catalog find" in list_unknown_words("zzz", catalog())[0]

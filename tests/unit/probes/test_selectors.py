"""Node ids and `-k` words that match no record are refused with the nearest match."""

from __future__ import annotations

import pytest

from catalog_probe.probes.plugin.collection.options_table import UsageError
from catalog_probe.probes.plugin.collection.selectors import list_unknown_words, require_records
from catalog_probe.reports.content.commands import build_nodeid
from tests.harness.engines import catalog

ADDRESS = "pa/errors/general/unknown_model"
NODE_ID = f"probes/test_errors.py::test_error[{ADDRESS}]"


def test_every_record_may_be_selected(subtests: pytest.Subtests) -> None:
    for prefix in ["", "/somewhere/else/", "../"]:
        with subtests.test(prefix=prefix):
            require_records([f"{prefix}{build_nodeid(record.address)}" for record in catalog().records], catalog())
            require_records(["probes", "probes/test_errors.py", "probes/test_errors.py::test_error"], catalog())


@pytest.mark.parametrize(
    ("node_id", "advice"),
    [
        (f"probes/test_errors.py::test_error[{ADDRESS}s]", ADDRESS),
        ("probes/test_errors.py::test_error[nothing/like/it/anywhere]", "`catalog-probe catalog find WORDS`"),
        (f"probes/test_eror.py::test_error[{ADDRESS}]", f"write `pytest '{NODE_ID}'`"),
        (f"probes/test_errors.py::test_endpoint[{ADDRESS}]", "not the probe of this record"),
    ],
)  # fmt: skip
def test_mistyped_node_id_is_refused_with_advice(node_id: str, advice: str) -> None:
    with pytest.raises(UsageError) as error:
        require_records([node_id], catalog())
    assert advice in str(error.value).removeprefix(node_id)
    assert "\n" not in str(error.value)


def test_unknown_words_of_an_expression_are_listed() -> None:
    assert list_unknown_words("unknwon_model and not 429", catalog()) == [
        "-k unknwon_model: no record has it; did you mean unknown_model?"
    ]
    assert list_unknown_words("unknown_model or (GET and 429)", catalog()) == []
    assert "did you mean pb/errors/general" in list_unknown_words("pb/errors/genral", catalog())[0]
    assert list_unknown_words("pb/errors/general", catalog()) == []
    assert "catalog find" in list_unknown_words("zzz", catalog())[0]

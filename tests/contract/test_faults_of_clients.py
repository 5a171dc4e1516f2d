"""Each fault that a client can see has a row in the clients' table and a mutant."""

from __future__ import annotations

from tests.harness.client_faults import PROVIDERS, find_documented_faults, read_table
from tests.harness.mutants.tables import read_mutants


def test_each_documented_fault_is_met_by_a_client() -> None:
    met = {(row.provider, row.fault) for row in read_table()}
    assert met == find_documented_faults().keys()


def test_each_has_a_mutant_or_a_reason_why_there_is_none() -> None:
    known = {mutant.id for mutant in read_mutants(PROVIDERS)}
    assert [row.id for row in read_table() if row.mutant not in known and not row.mutant.startswith("no: ")] == []
    with_reason = {(row.provider, row.fault) for row in read_table() if row.mutant.startswith("no: ")}
    assert with_reason == {("pb", "499 CANCELLED"), ("pd", "503*"), ("pd", "504*")}


def test_no_row_is_there_twice() -> None:
    asked = [(row.client, row.key, row.asks, row.suffers) for row in read_table()]
    assert len(asked) == len(set(asked))

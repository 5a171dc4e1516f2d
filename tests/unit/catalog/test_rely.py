"""May a client lean on it: what a rely.toml selects, and yes, no or unknown by the evidence that records keep."""

from __future__ import annotations

import json
import re
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.__main__ import main
from catalog.evidence.results import Asked
from catalog.model import Outcome, Record
from catalog.model.errors import CatalogError
from catalog.model.look import Look
from catalog.model.wildcard import fits
from catalog.reading.assertions import assertions
from catalog.reading.cells import statements_digest
from catalog.reading.store import Catalog
from catalog.rely import telling
from catalog.rely.answered import Answer, Answered, answered, together
from catalog.rely.declared import MAX_AGE_DAYS, Declared, Leaning, read, written
from catalog.rely.selected import promises, selected
from catalog.writeback.planner import Policy
from probes.planning.rotation import ROUND
from tests.harness.checkouts import copied
from tests.harness.engines import catalog as shipped
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run

if TYPE_CHECKING:
    from catalog.model.assertion import Assertion
    from catalog.reading.expectations import Lookup

TODAY = date(2026, 11, 30)
LIMIT = "pa/errors/general/rate_limit"
CREATE, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
RETRY = "answer/header:retry-after"


def seen(address: str, **lines: dict[str, Any]) -> Record:
    """A shipped record with evidence: a line an endpoint, `create` and `count` for short."""
    record = shipped()[address]
    stated = assertions(record, shipped().__getitem__)
    places = {"create": CREATE, "count": COUNT}
    block = {"of": statements_digest(stated), "seen": {places[name]: line for name, line in lines.items()}}
    return Record(record.address, {**record.data, "evidence": block})


def asked(leaning: Leaning, *records: Record, max_age_days: int = MAX_AGE_DAYS) -> Answered:
    changed = {record.address: record for record in records}
    catalog = Catalog(Path(), [changed.get(each.address, each) for each in shipped().records])
    declared = Declared((leaning,), max_age_days)
    [found] = answered(declared, selected(declared, catalog), TODAY)
    return found


RETRIES = Leaning((LIMIT,), ("answer/status", RETRY))
FRESH = {"on": "2026-11-20"}


def test_what_was_seen_as_stated_may_be_leaned_on() -> None:
    found = asked(RETRIES, seen(LIMIT, create=FRESH))
    assert (found.answer, found.assertions, found.oldest) == (Answer.YES, 2, date(2026, 11, 20))


def test_what_was_seen_otherwise_may_not() -> None:
    found = asked(RETRIES, seen(LIMIT, create=FRESH, count={"on": "2026-11-21", "differs": {RETRY: "absent"}}))
    assert found.answer is Answer.NO
    [differs] = found.differs
    assert (differs.assertion.id, differs.endpoint, differs.observed) == (f"{LIMIT}#{RETRY}", COUNT, "absent")
    assert differs.on == date(2026, 11, 21)


def test_a_difference_in_what_is_not_leaned_on_does_not_touch_it() -> None:
    elsewhere = seen(LIMIT, create={"on": "2026-11-20", "differs": {"answer/header:request-id": "absent"}})
    assert asked(RETRIES, elsewhere).answer is Answer.YES
    on_another = seen(LIMIT, create=FRESH, count={"on": "2026-11-20", "differs": {RETRY: "absent"}})
    assert asked(Leaning((LIMIT,), (RETRY,), (CREATE,)), on_another).answer is Answer.YES


def test_nobody_looked_is_neither() -> None:
    assert asked(RETRIES).answer is Answer.UNKNOWN
    partly = asked(RETRIES, seen(LIMIT, create={"on": "2026-11-20", "unseen": {RETRY: "2026-09-01"}}))
    assert partly.answer is Answer.UNKNOWN
    [unseen] = partly.unseen
    assert (unseen.assertion.id, unseen.last, unseen.why) == (f"{LIMIT}#{RETRY}", date(2026, 9, 1), "")
    assert unseen.endpoint == "", "on no endpoint"


def test_a_look_counts_for_so_many_days() -> None:
    last = TODAY - timedelta(days=MAX_AGE_DAYS)
    assert asked(RETRIES, seen(LIMIT, create={"on": last.isoformat()})).answer is Answer.YES
    older = (last - timedelta(days=1)).isoformat()
    assert asked(RETRIES, seen(LIMIT, create={"on": older})).answer is Answer.UNKNOWN
    assert asked(RETRIES, seen(LIMIT, create={"on": older}), max_age_days=60).answer is Answer.YES


def test_where_endpoints_are_named_each_of_them_is_asked() -> None:
    both = Leaning((LIMIT,), (RETRY,), ("pa/endpoints/messages/*",))
    found = asked(both, seen(LIMIT, create=FRESH))
    assert found.answer is Answer.UNKNOWN
    assert [(each.endpoint, each.last) for each in found.unseen] == [(COUNT, None)]
    assert asked(both, seen(LIMIT, create=FRESH, count=FRESH)).answer is Answer.YES
    differing = asked(both, seen(LIMIT, count={"on": "2026-11-20", "differs": {RETRY: "absent"}}))
    assert [each.endpoint for each in differing.differs] == [COUNT]
    assert [each.endpoint for each in differing.unseen] == [CREATE]


def test_on_some_endpoint_is_enough_whatever_was_never_seen_on_another() -> None:
    never = {"on": "2026-11-20", "unseen": {RETRY: None}}
    assert asked(RETRIES, seen(LIMIT, create=never, count=FRESH)).answer is Answer.YES
    assert asked(RETRIES, seen(LIMIT, create=never)).answer is Answer.UNKNOWN


def test_by_default_a_look_counts_until_a_live_night_came_round_and_its_date_was_renewed() -> None:
    assert ROUND + Policy().refresh_after == MAX_AGE_DAYS


def test_evidence_for_other_statements_says_nothing() -> None:
    record = seen(LIMIT, create=FRESH)
    edited = Record(record.address, {**record.data, "http_status": 430})
    assert asked(RETRIES, edited).answer is Answer.UNKNOWN


def test_a_star_means_what_the_documents_state_and_a_written_key_what_we_assumed_too() -> None:
    stated = assertions(shipped()[CREATE], shipped().__getitem__)
    assumed = next(str(each.key) for each in stated if each.assumed and each.key.label == "success")
    every = asked(Leaning((CREATE,), ("success/*",)))
    assert every.left_out
    assert assumed not in {str(each.assertion.key) for each in every.unseen}
    written_out = asked(
        Leaning((CREATE,), (assumed,)), seen(CREATE, create={"on": "2026-11-20", "differs": {assumed: "x"}})
    )
    assert written_out.answer is Answer.NO
    told = "\n".join(telling.lines([written_out]))
    assert f"{CREATE}#{assumed}: assumed " in told


@given(st.lists(st.sampled_from(Answer), min_size=1))
def test_the_answer_to_all(answers: list[Answer]) -> None:
    """As Kleene has it: one no is no; a yes needs all."""
    yes, no, unknown = (asked(RETRIES, seen(LIMIT, create=each)) for each in (FRESH, DIFFERING, OLD))
    by_answer = {Answer.YES: yes, Answer.NO: no, Answer.UNKNOWN: unknown}
    expected = Answer.NO if Answer.NO in answers else Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.YES
    assert together(by_answer[each] for each in answers) is expected


DIFFERING = {"on": "2026-11-20", "differs": {"answer/status": "503"}}
OLD = {"on": "2026-01-01"}


# --- patterns


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (LIMIT, LIMIT, True),
        ("pa/*", LIMIT, True),
        ("*/rate_limit", LIMIT, True),
        ("pa/errors/*/rate*", LIMIT, True),
        ("pa/errors/*/rat", LIMIT, False),
        ("pb/*", LIMIT, False),
        ("answer/body:/data/*/id", "answer/body:/data/*/id", True),
        ("answer/body:/data/*", "answer/body:/data/*/id", True),
        ("a.c", "abc", False),
    ],
)
def test_a_star_stands_for_anything(pattern: str, text: str, expected: bool) -> None:
    assert fits(pattern, text) is expected


@given(st.text(max_size=20))
def test_a_text_fits_itself_and_a_star_every_one(text: str) -> None:
    assert fits(text, text)
    assert fits("*", text)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
LISTS = st.lists(TEXTS, min_size=1, max_size=3).map(tuple)
LEANINGS = st.builds(Leaning, on=LISTS, assertions=LISTS, endpoints=LISTS | st.just(()), why=TEXTS | st.just(""))


@given(st.lists(LEANINGS, min_size=1, max_size=3))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, leanings: list[Leaning]) -> None:
    path = tmp_path_factory.getbasetemp() / "rely.toml"
    path.write_bytes(written(leanings, "a heading\nof two lines").encode())
    assert read(path).leanings == tuple(leanings)


def test_a_declaration_is_written_as_a_person_would() -> None:
    assert written([Leaning(("a",))]) == '[[rely]]\non = ["a"]\nassertions = ["*/*"]\n'
    two = written([Leaning(("a", "b"), ("x",), ("e",), "w"), Leaning(("c",))], "one\ntwo")
    assert two == (
        '# one\n# two\n\n[[rely]]\non = [\n  "a",\n  "b",\n]\nassertions = ["x"]\nendpoints = ["e"]\nwhy = "w"\n'
        '\n[[rely]]\non = ["c"]\nassertions = ["*/*"]\n'
    )


def test_what_is_not_written_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "rely.toml"
    path.write_text('[[rely]]\non = ["pa/*"]\n', encoding="utf-8")
    assert read(path) == Declared((Leaning(("pa/*",), ("*/*",), (), ""),), 35, path)
    path.write_text('max_age_days = 5\n[[rely]]\non = ["pa/*"]\n', encoding="utf-8")
    assert read(path).max_age_days == 5


def test_two_declarations_are_the_same_by_what_they_select() -> None:
    by_pattern = Declared((Leaning(("pa/errors/general/rate_lim*",), ("answer/header:retry*",)),))
    by_name = Declared((Leaning((LIMIT,), (RETRY,)),))
    assert promises(by_pattern, shipped()) == promises(by_name, shipped()) == {(f"{LIMIT}#{RETRY}", "*")}
    on_one = Declared((Leaning((LIMIT,), (RETRY,), (CREATE,)),))
    assert promises(on_one, shipped()) == {(f"{LIMIT}#{RETRY}", CREATE)}


# --- the command


def rely(folder: Path, text: str) -> str:
    path = folder / "rely.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "rely.toml: 'rely' is missing"),
        ("rely = []", "rely.toml:rely: "),
        ("[[rely]]", "rely.toml:rely[0]: 'on' is missing"),
        ('[[rely]]\non = "pa/*"', "rely.toml:rely[0].on: "),
        ('[[rely]]\non = ["pa/*"]\nassertion = ["x"]', "did you mean assertions?"),
        ('max_age_days = 0\n[[rely]]\non = ["pa/*"]', "rely.toml:max_age_days: "),
        (
            '[[rely]]\non = ["pa/errors/general/rate_limits"]',
            "did you mean pa/errors/general/rate_limit",
        ),
        (
            f'[[rely]]\non = ["{LIMIT}"]\nassertions = ["answer/header:retry-afer"]',
            "no assertion of these records; did",
        ),
        (
            f'[[rely]]\non = ["{LIMIT}"]\nendpoints = ["pb/*"]',
            "rely[0].endpoints: 'pb/*' names no endpoint",
        ),
        ('[[rely]]\non = ["zz"]', "rely[0].on: 'zz' names no record; `python -m catalog show` lists them\n"),
        ("[[rely", "broken TOML"),
    ],
)
def test_a_slip_is_one_line_with_its_place(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["can-i-rely", rely(tmp_path, text)]) == 4
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["can-i-rely", "nowhere.toml"]) == 4
    assert "nowhere.toml: cannot be read (No such file or directory); name a rely.toml" in capsys.readouterr().err


def test_what_only_the_provider_can_do_may_be_leaned_on_and_stays_unknown_until_somebody_met_it() -> None:
    overloaded = Leaning(("pa/errors/general/overloaded",), ("answer/*",))
    found = asked(overloaded)
    assert found.answer is Answer.UNKNOWN
    assert {each.why for each in found.unseen} == {"out of any client's reach: only-the-provider"}
    assert asked(overloaded, seen("pa/errors/general/overloaded", create=FRESH)).answer is Answer.YES


def test_where_the_documents_say_nothing_a_star_means_what_we_assumed() -> None:
    stream = "pb/endpoints/generation/stream_generate_content_v1beta"
    assert all(
        each.assumed for each in assertions(shipped()[stream], shipped().__getitem__) if each.key.label == "success"
    )
    found = asked(Leaning((stream,), ("success/*",)))
    assert (found.answer, found.left_out, bool(found.unseen)) == (Answer.UNKNOWN, 0, True)


@pytest.mark.parametrize(("line", "status", "word"), [(FRESH, 0, "yes"), (DIFFERING, 1, "no"), (OLD, 10, "unknown")])
def test_the_exit_status_is_the_answer(
    line: dict[str, Any], status: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "records"
    shutil.copytree(shipped().root / "pa", records / "pa")
    file = records / "pa" / "errors" / "general.json"
    data = json.loads(file.read_text())
    data["rate_limit"] = dict(seen(LIMIT, create=line).data)
    file.write_text(json.dumps(data))
    arguments = ["--catalog", str(records), "--today", TODAY.isoformat()]
    path = rely(tmp_path, written([RETRIES]))
    assert main(["can-i-rely", path, *arguments]) == status
    first = capsys.readouterr().out.splitlines()[0]
    assert main(["can-i-rely", path, "--json", *arguments]) == status
    told = json.loads(capsys.readouterr().out)
    assert first == f"{told['answer']}: 1 {word}"
    assert told["leanings"][0]["answer"] == told["answer"]
    assert (told["max_age_days"], told["of"]) == (35, "provider")


OVERLOADED = "pa/errors/general/overloaded"


def looked(folder: Path, name: str, *, differs: bool = False, **described: Any) -> str:
    """A run that looked at all of one record, on one endpoint."""
    record = shipped()[OVERLOADED]
    keys = [each.key.within for each in assertions(record, shipped().__getitem__)]
    otherwise = {"status": "503"} if differs else {}
    look = Look(CREATE, "answer", tuple(key for key in keys if key not in otherwise), otherwise)
    outcome = Outcome.DRIFTED if differs else Outcome.CONFORMS
    findings = (finding(documented=529, observed=503, assertion="answer/status"),) if differs else ()
    own = result(OVERLOADED, outcome, looks=(look,), findings=findings, probed=record.data, attempts=())
    return str(sample.write(folder / name, run(run=name, tripwires=(), expected=(), **described), [own]))


@pytest.mark.parametrize(("differs", "status", "word"), [(False, 0, "yes"), (True, 1, "no")])
def test_runs_that_are_given_count_as_well(
    differs: bool, status: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = rely(tmp_path, written([Leaning((OVERLOADED,))]))
    assert main(["can-i-rely", path, "--today", "2026-11-22"]) == 10
    assert (
        main(["can-i-rely", path, "--today", "2026-11-22", "--run", looked(tmp_path, "r1", differs=differs)]) == status
    )
    assert capsys.readouterr().out.splitlines()[-3 if differs else -2].startswith(f"{word}: 1 {word}")


def test_what_a_mock_does_is_told_as_that_and_mixed_with_no_provider(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = rely(tmp_path, written([Leaning((OVERLOADED,))]))
    of_a_mock = looked(tmp_path, "m1", live=False, target="mock")
    assert main(["can-i-rely", path, "--today", "2026-11-22", "--run", of_a_mock]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "this is what a mock does (mock), and no evidence of a provider"
    assert main(["can-i-rely", path, "--run", of_a_mock, looked(tmp_path, "r1")]) == 4
    assert "runs of live, mock have no common answer" in capsys.readouterr().err


def test_what_was_seen_under_another_revision_is_told_as_that_and_mixed_with_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither beside runs under the usual one, nor beside what the records remember of it."""
    records = tmp_path / "records"
    copied(shipped().root, records)
    usual = looked(tmp_path, "r1")
    assert main(["update", usual, "--catalog", str(records)]) == 0
    path, of_it = (
        rely(tmp_path, written([Leaning((OVERLOADED,))])),
        ["--today", "2026-11-22", "--catalog", str(records)],
    )
    assert main(["can-i-rely", path, *of_it]) == 0
    under: dict[str, Any] = {
        "asked": Asked(revision="pa:2026-10-21"),
        "revisions": {"pa": "2026-10-21"},
        "target": "live-2026-10-21",
    }
    blind = str(sample.write(tmp_path / "b1", run(run="b1", tripwires=(), expected=(), **under), []))
    assert main(["can-i-rely", path, *of_it, "--run", blind]) == 10, "what the records remember is of the usual one"
    other = looked(tmp_path, "o1", differs=True, **under)
    assert main(["can-i-rely", path, *of_it, "--run", other]) == 1
    said = "this is what was seen under pa:2026-10-21, and no evidence of the usual revision"
    assert capsys.readouterr().out.splitlines()[-1] == said
    assert main(["can-i-rely", path, *of_it, "--json", "--run", other]) == 1
    assert json.loads(capsys.readouterr().out)["revision"] == "pa:2026-10-21"
    assert main(["can-i-rely", path, *of_it, "--run", usual, other]) == 4
    assert "have no common answer; give those of providers under their usual" in capsys.readouterr().err


def test_help_names_records_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "can-i-rely", "accept", "find"):
        main([command, "--help"])
    named = set(re.findall(r"p[abcd]/(?:errors|endpoints)/[a-z_]+/[a-z0-9_]+", capsys.readouterr().out))
    assert named
    assert named <= {str(address) for address in shipped()}


def test_a_catalog_error_names_the_pattern() -> None:
    with pytest.raises(CatalogError, match=r"'pz/\*' names no record"):
        asked(Leaning(("pz/*",)))


@pytest.mark.parametrize("arguments", [["--max-age", "9" * 30], ["--today", "0001-01-01"]])
def test_no_number_of_days_is_too_large(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["can-i-rely", rely(tmp_path, written([RETRIES])), *arguments]) == 10
    assert capsys.readouterr().err == ""


def test_however_many_entries_select_a_record_it_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def counted(record: Record, lookup: Lookup) -> tuple[Assertion, ...]:
        taken.append(str(record.address))
        return assertions(record, lookup)

    monkeypatch.setattr("catalog.rely.selected.assertions", counted)
    declared = Declared(tuple(Leaning((pattern,)) for pattern in ("*", "pa/*", LIMIT, f"{LIMIT}*")))
    found = selected(declared, shipped())
    assert sorted(taken) == sorted(map(str, shipped()))
    assert [len(own) for _, own in found][2:] == [1, 1]
    assert found[2][1][0].meant == next(each for each in found[0][1] if str(each.record.address) == LIMIT).meant

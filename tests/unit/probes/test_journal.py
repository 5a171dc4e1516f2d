"""The journal of what probes made: lines that an earlier version wrote are read as they were meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from probes.calls.body import NO_BODY, Body, Content, JsonBody
from probes.calls.call import LANE_KEY, delete, post
from probes.running import journal
from probes.running.journal import Journal

EARLIER = (
    '{"id":"0badc0ffee00","state":"making","record":"pa/endpoints/files/get_file","target":"night","provider":"pa",'
    '"address":"https://pa.example","role":"inference","request":"POST /v1/files","at":"2026-11-01T02:00:00Z"}\n'
    '{"id":"0badc0ffee00","state":"made","role":"inference","removal":{"method":"DELETE","path":"/v1/files/file_1",'
    '"service":"base_url","headers":{"pa-beta":"files"},"query":[["force","true"]]%s}}\n'
)


@pytest.mark.parametrize(
    "written, body",
    [
        ("", NO_BODY),
        (',"json":{"a":[1]}', JsonBody({"a": [1]})),
        (',"json":null', JsonBody(None)),
        (',"content":"AP8="', Content(b"\x00\xff")),
    ],
    ids=["none", "object", "null", "bytes"],
)
def test_what_an_earlier_run_wrote_can_still_be_removed(tmp_path: Path, written: str, body: Body) -> None:
    path = tmp_path / journal.NAME
    path.write_text(EARLIER % written)
    (made,) = journal.left(path)
    how = delete("/v1/files/file_1", headers={"pa-beta": "files"}, query=(("force", "true"),)).but(body=body)
    assert (made.removal, made.role) == (how, "inference")
    assert made.removal is not None
    assert made.removal.credential is LANE_KEY


@pytest.mark.parametrize(
    "body, written",
    [(NO_BODY, {}), ({"a": 1}, {"json": {"a": 1}}), (Content(b"\x00\xff"), {"content": "AP8="})],
    ids=["none", "object", "bytes"],
)
def test_lines_are_written_as_earlier_versions_wrote_them(
    tmp_path: Path, body: object, written: dict[str, object]
) -> None:
    path = tmp_path / journal.NAME
    Journal(path, "night").made("0badc0ffee00", post("/v1/x/archive", body, credential="admin"), "admin")
    line = {"method": "POST", "path": "/v1/x/archive", "service": "base_url", "headers": {}, "query": [], **written}
    assert json.loads(path.read_text()) == {"id": "0badc0ffee00", "state": "made", "role": "admin", "removal": line}

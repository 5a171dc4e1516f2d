"""`python -m probes rely`: a rely.toml derived from what a client exchanged, printed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from catalog.model import homes, places
from catalog.model.exits import Exit
from catalog.model.visible import line
from catalog.reading.store import Catalog
from catalog.rely.declared import written
from probes.traffic import sources
from probes.traffic.leaning import leanings

if TYPE_CHECKING:
    import argparse

EPILOG = """\
examples:
  python -m probes rely --from night.har > rely.toml           a HAR, JSON lines of exchanges, a folder of such
  python -m probes rely --from reports/out/latest              what one of our runs asked for, or `listen` heard
  python -m mockserver --record session.jsonl                  let your client talk to it; then --from session.jsonl
"""


def rely(chosen: argparse.Namespace) -> int:
    """Print what the clients of these recordings lean on; what became of the exchanges goes to stderr.

    Raises:
        Mendable: a recording cannot be read, or the target cannot.
    """
    from probes.target import target as targets
    from probes.traffic import reading  # it needs what a run needs, which may not be installed

    catalog = Catalog.load(*homes.demanded(chosen.catalog))
    recordings = reading.read(map(places.meant, chosen.recordings))
    target = targets.load(chosen.target) if chosen.target else sources.anybody()
    traffic = sources.traffic(recordings, catalog, target, of_target=bool(chosen.target))
    found = leanings(traffic, catalog, limits=chosen.limits)
    sys.stderr.write(f"{line(traffic.summary())}\n")
    if not found:
        sys.stderr.write("nothing in it is evidence of any record, so nothing is leaned on\n")
        return Exit.NOTHING_SELECTED
    sys.stdout.write(written(found, f"What the client of {', '.join(traffic.names)} leans on, by its traffic."))
    return Exit.FINE


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "rely",
        help="derive from a client's traffic which assertions it leans on, as a rely.toml",
        description="Read recordings as `pytest probes --traffic` does, and print the rely.toml of who made these "
        "exchanges, for `can-i-rely`. Sends nothing. Exits 5 where no exchange is evidence of a record.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "--from", dest="recordings", nargs="+", required=True, metavar="FILE", help="recordings, or folders of such"
    )
    parser.add_argument("--target", metavar="NAME_OR_TOML", help="count only what was exchanged with this target")
    parser.add_argument("--limits", action="store_true", help="the client reads the headers of rate limits as well")
    parser.set_defaults(run_command=rely)

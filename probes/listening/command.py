"""`python -m probes listen`: a proxy in front of one provider, that judges what passes. Needs mitmproxy."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import tempfile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from catalog.model import homes, places
from catalog.model.errors import Mendable
from catalog.model.exits import Exit
from catalog.model.visible import line
from catalog.reading.manifest import manifest
from catalog.reading.store import Catalog
from probes.listening.injecting import Injector
from probes.target import target as targets
from probes.traffic.sources import LIVE

if TYPE_CHECKING:
    import argparse

HOST = "127.0.0.1"
PORT = 8080
GROUP = "listen"
"""The dependency group that brings mitmproxy."""


class ListenUsageError(Mendable):
    """What was asked for cannot be listened to: one line saying what, and what to do."""


def listen(chosen: argparse.Namespace) -> int:
    """Stand between clients and a provider until told to end; the exit status is that of the run it leaves behind.

    Raises:
        Mendable: an argument cannot be used, or mitmproxy is not installed.
    """
    named, out = chosen.catalog, places.home() / chosen.out
    catalog = Catalog.load(*homes.demanded(named))
    manifest(chosen.provider)  # a name that there is not is told with those that there are
    to = _address(chosen.to or _usual(chosen.provider))
    if chosen.inject:
        Injector.of(chosen.inject, catalog, chosen.provider, chosen.seed)
    _free(chosen.port)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ListenUsageError(f"--out {chosen.out}: {error.strerror}", "name a folder that can be written") from None
    try:
        from probes.listening.addon import Listen
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mitmproxy":
            raise
        mend = "`nox -s listen -- pa --to URL` installs it in an environment of its own"
        raise ListenUsageError("listen needs mitmproxy, which is not installed", mend) from None
    addon = Listen()
    options = {
        "provider": chosen.provider,
        "inject": chosen.inject or "",
        "inject_seed": chosen.seed,
        "runs": str(out),
        "records": str(named or ""),
    }
    try:
        asyncio.run(_serve(addon, to, chosen.port, options))
    except SystemExit:  # as mitmproxy ends itself where something went wrong as it began, after it has said what
        return int(addon.status or Exit.HARNESS_ERROR)
    return int(addon.status)


async def _serve(addon: Any, to: str, port: int, options: dict[str, Any]) -> None:
    from mitmproxy.options import Options
    from mitmproxy.tools.dump import DumpMaster

    logging.getLogger("catalog-probe").addHandler(_Lines())
    logging.getLogger("mitmproxy").addHandler(_Lines(logging.ERROR))
    with tempfile.TemporaryDirectory() as folder:  # where mitmproxy keeps certificates, of which none is needed
        base = Options(mode=[f"reverse:{to}"], listen_host=HOST, listen_port=port, confdir=folder)
        master = DumpMaster(base, with_termlog=False, with_dumper=False)
        master.addons.add(addon, _Ready(addon, to))
        master.options.update(**options)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, master.shutdown)
        await master.run()


class _Ready:
    """Says where to point a client, when it is listened there."""

    def __init__(self, addon: Any, to: str) -> None:
        self._addon = addon
        self._to = to

    def running(self) -> None:
        from mitmproxy import ctx

        if not self._addon.has_begun:
            return
        [(host, port, *_), *_] = ctx.master.addons.get("proxyserver").listen_addrs()
        logging.getLogger("catalog-probe").warning(
            f"listening on http://{host}:{port} for {self._to}: point a client there; Ctrl-C ends it"
        )


class _Lines(logging.Handler):
    """Each message is one line on stdout."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stdout.write(f"{line(record.getMessage())}\n")
        sys.stdout.flush()


def _usual(provider: str) -> str:
    """The address of the shipped live target."""
    known = targets.load(LIVE, {}).providers.get(provider)
    return known.addresses.get("base_url", "") if known is not None else ""


def _address(to: str) -> str:
    try:
        parts = urlsplit(to)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good:
        raise ListenUsageError(f"--to {to}: no address", "name the provider's, as https://api.example")
    if parts.path.strip("/") or parts.query:
        mend = "name it without the path, and keep that in the client's base address"
        raise ListenUsageError(f"--to {to}: mitmproxy takes an address without a path", mend)
    return f"{parts.scheme}://{parts.netloc}"


def _free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise ListenUsageError(f"--port {port}: {said}", "name another") from None


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "listen",
        help="stand between your client and a provider, and judge what passes; needs mitmproxy",
        description="Pass every call of any client on to a provider, streams and sockets too, and hold a copy of each "
        "exchange against the catalog. A cause is told when it is first seen; Ctrl-C ends it and leaves a run behind "
        "with its report. The exit status is that of a run.",
    )
    parser.add_argument("provider", type=str.lower, metavar="PROVIDER", help="whose API it is: pa")
    parser.add_argument("--to", metavar="URL", help="its address (default: that of the live target)")
    parser.add_argument(
        "--port", type=int, default=PORT, help="where to listen on this machine, 0 for any (default: %(default)s)"
    )
    parser.add_argument(
        "--inject",
        metavar="WHAT=SHARE[,…]",
        help="answer a share of the calls with a documented failure instead of passing them on: 529=10%%, "
        "overloaded=0.1, an address of the catalog, or any=5%% for whatever may be sent again",
    )
    parser.add_argument("--seed", type=int, default=0, help="the same seed injects the same (default: %(default)s)")
    parser.add_argument(
        "--out", default=places.RUNS, metavar="DIR", help="where the run is left (default: %(default)s)"
    )
    parser.set_defaults(run_command=listen)

"""The addon for mitmproxy: `mitmdump -s probes/listening/addon.py --mode reverse:URL --set provider=pa`.

What passes is not touched: each piece goes on at once, and a copy of it is kept. Only a call that is chosen for a
rehearsal is answered here, or its stream ended early.
"""

from __future__ import annotations

import logging
import queue
import threading
from typing import TYPE_CHECKING, Any

from mitmproxy import ctx, http

from catalog.model import homes, places
from catalog.model.errors import CatalogError, Mendable, did_you_mean
from catalog.model.exits import Exit
from catalog.reading.manifest import providers
from catalog.reading.store import Catalog
from catalog.recognition.endpoints import Endpoints
from probes.listening.flows import STREAMED, Copies, recorded
from probes.listening.injecting import MARK, Injector, Interrupting, names
from probes.listening.listener import Listener

if TYPE_CHECKING:
    from catalog.reading.rehearsal import Rehearsed
    from probes.listening.flows import Flow
    from probes.traffic.recorded import Recorded

_FAILURE = "catalog_probe_failure"
_NUMBER = "catalog_probe_number"
_INTERIM = 200

_LOG = logging.getLogger("catalog-probe")


class Listen:
    """What mitmproxy calls as flows come by; it judges on a thread of its own."""

    def __init__(self) -> None:
        self.status = Exit.FINE
        self._listener: Listener | None = None
        self._injector: Injector | None = None
        self._endpoints = Endpoints()
        self._copies: dict[str, Copies] = {}
        self._calls = 0
        self._queue: queue.Queue[Recorded | None] = queue.Queue()
        self._judge = threading.Thread(target=self._judge_all, name="judge", daemon=True)

    @property
    def has_begun(self) -> bool:
        """Whether it judges what passes."""
        return self._judge.is_alive()

    def load(self, loader: Any) -> None:
        """Declare the options."""
        loader.add_option("provider", str, "", f"Whose API is behind the proxy: {', '.join(providers())}.")
        loader.add_option(
            "inject",
            str,
            "",
            "Answer a share of calls with a documented failure: 529=10%, overloaded=0.1, any=5%, or an address of the "
            "catalog; several with commas.",
        )
        loader.add_option("inject_seed", int, 0, "The same seed and order of calls lead to the same injected failures.")
        loader.add_option("runs", str, places.RUNS, "The folder in which the run is left.")
        loader.add_option(
            "records", str, "", "The folder of the catalog's records, or a home; empty: what is installed."
        )

    def running(self) -> None:
        """Begin, once all options are known; what of them cannot be used ends the proxy with one line."""
        try:
            self._begin(ctx.options)
        except Mendable as error:
            _LOG.error(str(error))
            self.status = error.status
            ctx.master.shutdown()
            return
        self._judge.start()

    def _read(self, options: Any) -> tuple[Catalog, Injector | None]:
        catalog = Catalog.load(*homes.demanded(places.meant(options.records) if options.records else None))
        name = options.provider
        if name and name not in providers():
            mend = did_you_mean(name, providers()) or f"they are {', '.join(providers())}"
            raise CatalogError(f"no provider is called {name!r}", mend)
        if not options.inject:
            return catalog, None
        if not name:
            raise CatalogError("what is injected depends on the provider", "name it: --set provider=pa")
        return catalog, Injector.of(options.inject, catalog, name, options.inject_seed)

    def _begin(self, options: Any) -> None:
        catalog, self._injector = self._read(options)
        self._endpoints = Endpoints.of(
            catalog.select(provider=options.provider) if options.provider else catalog.records
        )
        self._listener = Listener(catalog, options.provider, places.home() / options.runs, _LOG.warning)
        self._listener.write()
        if self._injector is not None:
            _LOG.warning(f"injecting {names(self._injector.wanted)} of the calls, seed {self._injector.seed}")

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Let the request go on as it comes, unless it is answered here."""
        self._calls += 1
        failure = self._chosen(flow)
        if failure is not None:
            flow.metadata[_FAILURE] = failure
            if failure.event is None:
                return  # a request that is answered here is read to its end first
            flow.request.headers["accept-encoding"] = "identity"  # into a packed stream nothing can be written
        copies = self._copies[flow.id] = Copies()
        flow.request.stream = copies.asked

    def _chosen(self, flow: http.HTTPFlow) -> Rehearsed | None:
        if self._injector is None or flow.request.headers.get("upgrade"):
            return None
        path = flow.request.path.partition("?")[0]
        asked = {
            *self._endpoints.sharing(flow.request.method, path),
            *self._endpoints.sharing(flow.request.method, path, streamed=True),
        }
        return self._injector.chosen(self._calls, asked)

    def request(self, flow: http.HTTPFlow) -> None:
        """Answer here what was chosen for it."""
        failure: Rehearsed | None = flow.metadata.get(_FAILURE)
        if failure is None or failure.event is not None or self._listener is None:
            return
        headers = self._listener.put_in_real_names({**failure.headers, MARK: failure.record})
        flow.response = http.Response.make(failure.status, failure.content, headers)

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Let the answer go on as it comes, and keep a copy."""
        copies = self._copies.get(flow.id)
        if copies is None or flow.response is None or flow.response.status_code < _INTERIM:
            return
        failure: Rehearsed | None = flow.metadata.get(_FAILURE)
        if failure is not None and STREAMED in flow.response.headers.get("content-type", "").lower():
            flow.response.headers[MARK] = failure.record
            flow.response.headers.pop("content-length", None)
            flow.response.stream = Interrupting(failure)
            return
        flow.response.stream = copies.answered

    def response(self, flow: http.HTTPFlow) -> None:
        """Judge what is complete; a socket is when it ends."""
        if flow.websocket is None:
            self._put(flow)

    def error(self, flow: http.HTTPFlow) -> None:
        """What broke off shows nothing: the client may have gone."""
        self._put(flow, broken=True)

    def websocket_end(self, flow: http.HTTPFlow) -> None:
        """Judge a socket as a whole."""
        self._put(flow)

    def _put(self, flow: http.HTTPFlow, *, broken: bool = False) -> None:
        copies = self._copies.pop(flow.id, None)
        if self._listener is not None and (copies is not None or flow.metadata.get(_FAILURE) is not None):
            seen: Flow = flow
            provider = self._listener.provider
            self._queue.put(recorded(seen, copies or Copies(), provider, broken=broken))

    def _judge_all(self) -> None:
        listener = self._listener
        while listener is not None and (one := self._queue.get()) is not None:
            listener.add(one)
            if listener.changed and self._queue.empty():
                listener.write()

    def done(self) -> None:
        """Judge what is left, and leave the run behind."""
        if self._listener is None:
            return
        self._queue.put(None)
        if self._judge.is_alive():
            self._judge.join()
        self.status = self._listener.finish()


addons = [Listen()]
"""What mitmproxy looks for in a script."""

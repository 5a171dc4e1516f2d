"""Hands over to the server of `fork_server.py` what this Python was given: a fork does that in its place, or this one.

It imports what a bare Python has at hand: each command of a test begins with it.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys


def main(address: str) -> None:
    """Have it forked, and end as that ends."""
    asked = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    try:
        if asked.fileno() < 3:  # it has the number of a stream that is closed
            raise OSError
        asked.connect(address)
        request = marshal.dumps((sys.argv[1:], dict(os.environ), os.getcwd()))  # noqa: PTH109 - no pathlib here
        asked.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
        is_forked = asked.recv(100)
    except OSError:  # so is another stream, or the server is gone
        is_forked = b""
        asked.close()
    if not is_forked:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    os.closerange(0, 3)
    status = marshal.loads(asked.recv(100))
    if status < 0:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # the one that Python hears
        os.kill(os.getpid(), -status)
    os._exit(status)

"""Tests whether a port is free on this host, by binding it for a moment on every address that matters."""

from __future__ import annotations

import errno
import socket

# A server may listen on any of these. We try each, since "all addresses" does not block the others everywhere
# (macOS lets 127.0.0.1 and 0.0.0.0 be bound side by side).
_ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1"))
# No IPv6 here, or not on the loopback device: then no server can listen there either.
_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT)


def is_free(port: int) -> bool:
    """Can a server be started on this port now, on loopback and on all addresses?"""
    return all(_can_bind(family, address, port) for family, address in _ADDRESSES)


def _can_bind(family: socket.AddressFamily, address: str, port: int) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As servers do: ignore connections of an ended server that the kernel still remembers.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Bind but never listen: two processes that probe at the same moment do not block each other.
            probe.bind((address, port))
    except OSError as error:
        return error.errno in _NOT_HERE
    return True

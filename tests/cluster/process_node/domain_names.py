"""Answers questions about names, in the format of DNS (RFC 1035): A records of one domain, and nothing else.

A name of the domain that is not known does not exist, and neither does anything outside: from this network
nothing outside can be reached.
"""

import asyncio
import random
import struct
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address
from typing import cast

A, AAAA, ANY, INTERNET = 1, 28, 255, 1
NO_ERROR, FORMAT_ERROR, NO_SUCH_NAME = 0, 1, 3
ANSWER, AUTHORITATIVE, RECURSION = 0x8000, 0x0400, 0x0180
HEADER = struct.Struct(">6H")
SECONDS = 1
"""for which an answer may be kept: next to nothing, for pods come and go"""
MOST = 24
"""answers in one packet of 512 bytes"""

Look = Callable[[str], Sequence[str] | None]
"""the addresses of a name without its last dot; None if there is no such name"""


def answer(question: bytes, look: Look) -> bytes:
    """The packet that answers a packet; empty if there is nothing to answer."""
    if len(question) < HEADER.size:
        return b""
    number, flags, count, *_ = HEADER.unpack_from(question)
    try:
        name, end = _name(question)
        kind, family = struct.unpack_from(">2H", question, end)
    except (IndexError, UnicodeDecodeError, struct.error):
        return HEADER.pack(number, ANSWER | FORMAT_ERROR, 0, 0, 0, 0)
    if flags & ANSWER or count != 1:
        return HEADER.pack(number, ANSWER | FORMAT_ERROR, 0, 0, 0, 0)
    addresses = look(name)
    code = NO_SUCH_NAME if addresses is None else NO_ERROR
    wanted = list(addresses or ()) if kind in (A, ANY) and family == INTERNET else []
    random.shuffle(wanted)
    told = [_record(address) for address in wanted[:MOST]]
    head = HEADER.pack(number, ANSWER | AUTHORITATIVE | RECURSION | code, 1, len(told), 0, 0)
    return head + question[HEADER.size : end + 4] + b"".join(told)


def _name(question: bytes) -> tuple[str, int]:
    """The name that is asked for, in lower case, and where it ends."""
    labels, at = [], HEADER.size
    while length := question[at]:
        labels.append(question[at + 1 : at + 1 + length].decode("ascii").lower())
        at += 1 + length
    return ".".join(labels), at + 1


def _record(address: str) -> bytes:
    """An A record that refers to the name of the question."""
    back = 0xC000 | HEADER.size
    return struct.pack(">3HIH", back, A, INTERNET, SECONDS, 4) + IPv4Address(address).packed


class Server(asyncio.DatagramProtocol):
    """Answers over UDP."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        if told := answer(data, self._look):
            self._transport.sendto(told, address)

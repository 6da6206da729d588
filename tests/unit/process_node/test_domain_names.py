"""Questions about names are answered as RFC 1035 says."""

import struct

import pytest

from tests.cluster.process_node.domain_names import AAAA, HEADER, A, answer

KNOWN = {
    "web.lab.svc.cluster.local": ["198.18.0.2"],
    "empty.lab.svc.cluster.local": [],
    "many.lab.svc.cluster.local": [f"198.18.1.{number}" for number in range(200)],
}


def question(name, kind=A, number=7, flags=0x0100):
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split("."))
    return HEADER.pack(number, flags, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def code_and_count(told):
    number, flags, _, count, *_ = HEADER.unpack_from(told)
    return number, flags & 0xF, count


CASES = {
    "a known name has its address": ("web.lab.svc.cluster.local", A, (7, 0, 1)),
    "capitals do not matter": ("WEB.lab.svc.Cluster.local", A, (7, 0, 1)),
    "a known name has no address of the sixth version": ("web.lab.svc.cluster.local", AAAA, (7, 0, 0)),
    "a name without addresses exists": ("empty.lab.svc.cluster.local", A, (7, 0, 0)),
    "another name does not": ("web", A, (7, 3, 0)),
    "nor does one outside": ("example.com", AAAA, (7, 3, 0)),
}


@pytest.mark.parametrize("sentence", CASES)
def test_answer(sentence):
    name, kind, want = CASES[sentence]
    assert code_and_count(answer(question(name, kind), KNOWN.get)) == want


def test_an_answer_repeats_the_question_and_refers_to_its_name():
    asked = question("web.lab.svc.cluster.local")
    told = answer(asked, KNOWN.get)
    assert told[HEADER.size : len(asked)] == asked[HEADER.size :]
    assert told[len(asked) :] == b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x01\x00\x04" + bytes((198, 18, 0, 2))


def test_an_answer_fits_into_a_packet():
    assert len(answer(question("many.lab.svc.cluster.local"), KNOWN.get)) <= 512


BROKEN = {
    "too short for a head": (b"\0" * 5, b""),
    "a name that does not end": (question("web")[:-6], None),
    "an answer": (question("web", flags=0x8100), None),
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_what_is_no_question_is_refused(sentence):
    asked, want = BROKEN[sentence]
    told = answer(asked, KNOWN.get)
    if want is not None:
        assert told == want
    else:
        assert code_and_count(told) == (7, 1, 0)

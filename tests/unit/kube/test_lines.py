"""Lines, however they are cut."""

from hypothesis import given
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.kube.lines import LineSplitter

STREAMS = st.lists(st.text("ab", min_size=1, max_size=9), max_size=9)


@given(STREAMS, st.lists(st.integers(1, 5)), st.booleans())
def test_lines_do_not_depend_on_the_cuts(lines: list[str], cuts: list[int], has_end: bool) -> None:
    stream = "\n".join(lines).encode() + (b"\n" if has_end else b"")
    splitter, got = LineSplitter(), []
    for cut in [*cuts, len(stream) or 1]:
        got += splitter.feed(stream[:cut])
        stream = stream[cut:]
    whole = [*got, splitter.rest()] if splitter.rest() else got
    assert whole == [line.encode() for line in lines]


def test_empty_lines_are_left_out() -> None:
    assert LineSplitter().feed(b"\n\na\n\n") == [b"a"]


def test_a_line_of_megabytes() -> None:
    splitter = LineSplitter()
    assert [line for _ in range(20) for line in splitter.feed(b"x" * 65536)] == []
    assert [len(line) for line in splitter.feed(b"y\nz\n")] == [20 * 65536 + 1, 1]

"""What the pictures of our pages are made by, and that those which are shown are small."""

import xml.etree.ElementTree as ET

from tests.media.__main__ import MEDIA
from tests.media.animation import animate
from tests.media.playback import Shown, lines_of
from tests.terminal import Piece

LARGEST = {".svg": 300_000, ".png": 200_000}


def pieces(*texts: tuple[float, str]) -> list[Piece]:
    return [Piece(text, second, 0.0) for second, text in texts]


def test_a_line_stays_from_its_first_character_on() -> None:
    shown = lines_of(pieces((1, "one"), (2, " more\r\n"), (3, "\x1b[31mtwo\x1b[0m\r\n")), columns=20)
    assert list(shown) == [Shown(0, "one more", 1, None), Shown(1, "two", 3, None)]


def test_what_is_drawn_over_ends_when_the_next_comes() -> None:
    shown = lines_of(pieces((1, "\r\x1b[K10 %"), (2, "\r\x1b[K20 %"), (3, "\r\n")), columns=20)
    assert list(shown) == [Shown(0, "10 %", 1, 2), Shown(0, "20 %", 2, None)]


def test_a_long_line_is_broken_as_a_terminal_does() -> None:
    assert list(lines_of(pieces((1, "abcdefg\r\n")), columns=3)) == [
        Shown(0, "abc", 1, None),
        Shown(1, "def", 1, None),
        Shown(2, "g", 1, None),
    ]


def test_the_picture_plays_each_line_in_its_time_and_rests_at_the_end() -> None:
    lines = [
        Shown(0, "<first>", 0, None),
        Shown(1, "50 %", 4, 8),
        Shown(1, "100 %", 8, None),
        Shown(2, "end", 20, None),
    ]
    text = animate(lines, title="a & b", columns=20, rows=2, speed=2)
    root = ET.fromstring(text)
    assert "".join(root.itertext()).count("<first>") == 1
    # of 20 s: 10 played, 10 at rest
    assert "@keyframes k1{0%{opacity:0}10.00%{opacity:1}20.00%{opacity:0}}" in text
    assert "@keyframes move{0%{transform:none}50.00%{transform:translateY(-20px)}}" in text


def test_what_our_pages_show_is_small() -> None:
    shown = [file for file in MEDIA.iterdir() if file.suffix in LARGEST]
    assert shown
    assert {
        file.name: file.stat().st_size for file in shown if file.stat().st_size > LARGEST[file.suffix]
    } == {}

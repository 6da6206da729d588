r"""onJobFailureMessagePatterns: RE2 patterns, read by Python's `re` where both mean the same.

RE2 has no look-around, no references back and no possessive repeats; a pattern with these is invalid
there and matches nothing, so it matches nothing here. `\z`, `[[:alpha:]]` and `(?<name>` are rewritten.
"""

from __future__ import annotations

import re
import warnings

_ESCAPES_UNKNOWN_TO_RE2 = re.compile(r"\\[1-9Z]")
_GROUPS_UNKNOWN_TO_RE2 = re.compile(r"\(\?(?:[=!>#(]|<[=!]|P[=>])|[*+?}]\+")
_CLASS = re.compile(r"\[:(\w+):\]")
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "punct": re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}


def matches(pattern: str, message: str) -> bool:
    """Whether the pattern is found in the message; one that RE2 does not read is not."""
    if not _is_re2(pattern):
        return False
    text = _CLASS.sub(lambda found: _CLASSES[found[1]], pattern)
    text = re.sub(r"\(\?<(?=\w)", "(?P<", text).replace(r"\z", r"\Z")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of `[[a]`, which means the same to both
        try:
            return re.search(text, message, re.ASCII) is not None
        except re.error:
            return False


def _is_re2(pattern: str) -> bool:
    """Whether nothing stands in it that Python reads and RE2 does not."""
    if any(name not in _CLASSES for name in _CLASS.findall(pattern)):
        return False
    without_backslashes = pattern.replace("\\\\", "")
    bare = re.sub(r"\[\^?\]?[^\]]*\]", "x", re.sub(r"\\.", "", without_backslashes))
    return not (_ESCAPES_UNKNOWN_TO_RE2.search(without_backslashes) or _GROUPS_UNKNOWN_TO_RE2.search(bare))

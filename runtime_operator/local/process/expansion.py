"""`$(NAME)` in values, commands, arguments and sub-paths, exactly as Kubernetes expands it.

`$$` stands for one dollar; a name that is not known, and a dollar before anything else, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_DOLLAR = re.compile(r"\$(?:(\$)|\(([^)]*)\)|.)", re.DOTALL)


def expand(text: str, env: Mapping[str, str]) -> str:
    """Put the values of known variables in their places."""

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        return match[0] if match[2] is None else env.get(match[2], match[0])

    return _DOLLAR.sub(value, text)


def unknown(text: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """List the names that a text refers to and that are not known."""
    names = (match[2] for match in _DOLLAR.finditer(text))
    return tuple(name for name in names if name is not None and name not in env)

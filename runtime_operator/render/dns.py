"""Kubernetes' rules for names, with its own words for a name that breaks them."""

from __future__ import annotations

import re

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
TOO_LONG_LABEL = "must be no more than 63 characters"
TOO_LONG_VALUE = "must be no more than 63 bytes"
TOO_LONG_SUBDOMAIN = "must be no more than 253 characters"

_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL_VALUE = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

_NOT_A_LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    f"validation is '{_LABEL_1035}')"
)
_NOT_A_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    f"'{_SUBDOMAIN}')"
)
_NOT_A_LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    f"for validation is '{_LABEL_VALUE}')"
)
_NOT_A_PATH = f"Invalid path (regex used for validation is '{_HTTP_PATH}')"
NO_DOMAIN = 'must be a domain-prefixed path (such as "acme.io/foo")'


def _faults(text: str, pattern: str, length: int, too_long: str, malformed: str) -> list[str]:
    faults = [too_long] if len(text) > length else []
    return faults if re.fullmatch(pattern, text) else [*faults, malformed]


def label_faults(text: str) -> list[str]:
    """Say why the text is no DNS-1035 label, as the names of Services and Jobs' pods must be."""
    return _faults(text, _LABEL_1035, LABEL_LENGTH, TOO_LONG_LABEL, _NOT_A_LABEL)


def subdomain_faults(text: str) -> list[str]:
    """Say why the text is no DNS-1123 subdomain."""
    return _faults(text, _SUBDOMAIN, SUBDOMAIN_LENGTH, TOO_LONG_SUBDOMAIN, _NOT_A_SUBDOMAIN)


def label_value_faults(text: str) -> list[str]:
    """Say why the text may not be the value of a label."""
    return _faults(text, _LABEL_VALUE, LABEL_LENGTH, TOO_LONG_VALUE, _NOT_A_LABEL_VALUE)


def domain_path_faults(text: str) -> list[str]:
    """Say why the text is no domain-prefixed path, as a manager or a controller is named."""
    domain, _, path = text.partition("/")
    if not domain or not path:
        return [NO_DOMAIN] if text else [""]
    faults = subdomain_faults(domain)
    return faults if re.fullmatch(_HTTP_PATH, path) else [*faults, _NOT_A_PATH]

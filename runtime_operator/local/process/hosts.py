"""The text of a pod's /etc/hosts."""

from __future__ import annotations

from collections.abc import Mapping

from .pod import Object, hostname_of


def hosts_text(pod: Object, *, pod_ip: str, names: Mapping[str, str]) -> str:
    """Write the loopback names, every name the pod must know, its own, and its hostAliases."""
    lines = ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback"]
    own = hostname_of(pod)
    by_address: dict[str, list[str]] = {}
    for name, address in names.items():
        by_address.setdefault(address, []).append(name)
    if own not in names:
        by_address.setdefault(pod_ip, []).append(own)
    lines += [f"{address}\t{' '.join(group)}" for address, group in by_address.items()]
    for alias in pod["spec"].get("hostAliases") or ():
        lines.append(f"{alias['ip']}\t{' '.join(alias.get('hostnames') or ())}")
    return "\n".join(lines) + "\n"

"""What Katib's StdOut collector makes of a log, by the filter that it uses where an experiment names none."""

import re

DEFAULT = re.compile(r"([\w|-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)", re.ASCII)


def collected(log: str, *metrics: str) -> list[tuple[str, str]]:
    """Every `name=value` that it finds, or those of the metrics that an experiment asks for."""
    lines = [line for line in log.splitlines() if not metrics or any(name in line for name in metrics)]
    pairs = [(found[1].strip(), found[2].strip()) for line in lines for found in DEFAULT.finditer(line)]
    return [pair for pair in pairs if not metrics or pair[0] in metrics]

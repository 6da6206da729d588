"""Reading rows of any format as a stream: `read_records(source)`; never all rows at once, never code."""

from .reading import read_records
from .sniffing import Format, Source, sniff

__all__ = ["Format", "Source", "read_records", "sniff"]

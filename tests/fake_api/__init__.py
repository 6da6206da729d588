"""An API server in memory behind the product's Transport, for loops in virtual time.

api = FakeApi(TRAINJOBS, JOBSETS)            what it serves, besides Kubernetes' own kinds
api.create(TRAINJOBS, {...})                 as somebody else; also change, remove, get, all
transport = api.transport()                  what the product gets
api.faults.add(Fault("refuse", verb="apply", resource=JOBSETS, error=api_error(500, "", "broken")))
api.writes                                   every write that came through a transport
"""

from .faults import Crash, Fault, Faults
from .records import Write
from .server import FakeApi
from .transport import FakeTransport

__all__ = ["Crash", "FakeApi", "FakeTransport", "Fault", "Faults", "Write"]

"""Who has which address: all are of the range for benchmarks, and none is used on this machine's own network.

docs/decisions/005-addresses-of-the-test-cluster.md says why.
"""

from ipaddress import IPv4Address, IPv4Network

NODE = IPv4Address("198.18.0.1")
"""the process node; the API server answers there too"""
PODS = IPv4Network("198.18.0.0/17")
"""the process node and its pods, in a network namespace"""
SIMULATED_NODE = IPv4Address("198.18.128.1")
SIMULATED_PODS = "198.18.129.1/17"
"""where KWOK begins to count; nobody answers"""
SERVICES = IPv4Network("198.19.0.0/17")
"""the ClusterIPs; the first is that of the Service `kubernetes`"""
MACHINE = IPv4Address("198.19.128.1")
"""this machine: a port there is the same port of 127.0.0.1; only the tunnel knows it"""
API_PORT = 443
"""of the API server inside the cluster"""

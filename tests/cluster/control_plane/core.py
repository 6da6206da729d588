"""etcd, the API server and the controllers of Kubernetes itself, and the flags with which they run here.

The differences to a cluster: etcd does not wait for the disk, a lost node is noticed after seconds instead of
40, and the API server goes through a tunnel to what is in the cluster's network.
"""

from pathlib import Path

from .addresses import SERVICES
from .site import Site

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")
CONTROLLERS = (
    "clusterrole-aggregation deployment endpointslice garbage-collector job namespace node-lifecycle"
    " persistentvolume-binder persistentvolumeclaim-protection pod-garbage-collector replicaset resourcequota"
    " root-ca-certificate-publisher serviceaccount serviceaccount-token statefulset taint-eviction"
    " ttl-after-finished"
).split()
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}
EGRESS = "egress"
EGRESS_CONFIG = {"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration"}
ISSUER = "https://kubernetes.default.svc"


def start_etcd(site: Site) -> None:
    """The store; its data outlives a kill, not the machine."""
    client, peer = f"http://{site.address('etcd')}", f"http://{site.address('etcd-peer')}"
    site.run(
        "etcd",
        "etcd",
        [
            f"--data-dir={site.folder / 'etcd-data'}",
            "--unsafe-no-fsync",
            "--log-level=error",
            "--quota-backend-bytes=4294967296",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        ],
    )


def start_api_server(site: Site) -> None:
    """The API server: authorizers of nodes and roles, every default admission plug-in, an audit log."""
    policy = site.write("audit-policy.json", AUDIT_POLICY)
    tunnel = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(_socket(site))}}}
    egress = {**EGRESS_CONFIG, "egressSelections": [{"name": "cluster", "connection": tunnel}]}
    site.run(
        "kube-apiserver",
        "kube-apiserver",
        [
            f"--etcd-servers=http://{site.address('etcd')}",
            "--bind-address=127.0.0.1",
            f"--secure-port={site.port('api')}",
            f"--tls-cert-file={site.pki / 'server.crt'}",
            f"--tls-private-key-file={site.pki / 'server.key'}",
            f"--kubelet-client-certificate={site.pki / 'kube-apiserver.crt'}",
            f"--kubelet-client-key={site.pki / 'kube-apiserver.key'}",
            "--feature-gates=TranslateStreamCloseWebsocketRequests=false",  # a node understands them
            f"--client-ca-file={site.pki / 'ca.crt'}",
            "--authorization-mode=Node,RBAC",
            "--allow-privileged",
            "--endpoint-reconciler-type=none",
            "--enable-aggregator-routing",
            f"--egress-selector-config-file={site.write('egress.json', egress)}",
            f"--service-cluster-ip-range={SERVICES}",
            f"--service-account-issuer={ISSUER}",
            f"--service-account-key-file={site.pki / 'service-accounts.key'}",
            f"--service-account-signing-key-file={site.pki / 'service-accounts.key'}",
            f"--audit-policy-file={policy}",
            f"--audit-log-path={site.folder / 'audit.log'}",
            "--shutdown-delay-duration=0s",
        ],
    )


def start_egress(site: Site) -> None:
    """The tunnel into the network of the process node."""
    module = f"{__package__}.egress"
    site.run_module(EGRESS, module, [_socket(site), site.pid_file("process-node-network")])


def _socket(site: Site) -> Path:
    return site.folder / "egress.sock"


def start_controllers(site: Site) -> None:
    """Kubernetes' own controllers, those that a training job or an operator meets."""
    site.run(
        "kube-controller-manager",
        "kube-controller-manager",
        [
            f"--kubeconfig={site.kubeconfig_of('kube-controller-manager')}",
            "--use-service-account-credentials",
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            "--concurrent-gc-syncs=10",
            f"--controllers={','.join(f'{name}-controller' for name in CONTROLLERS)}",
            f"--service-account-private-key-file={site.pki / 'service-accounts.key'}",
            f"--root-ca-file={site.pki / 'ca.crt'}",
            "--node-monitor-period=1s",
            "--node-monitor-grace-period=12s",
        ],
    )

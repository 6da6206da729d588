"""Nodes that run their pods as processes of this machine: a kubelet's face before `local/process`.

    process-node-space     one a plane: only holds a network namespace
    process-node-network   one a plane, in it: forwards Services, answers for names, provides for claims
                           (kube-proxy, cluster DNS and a provisioner in one)
    process-node …         one a node: registers, runs what is bound to it, reports, serves logs and `exec`

Each node lives in process and mount namespaces of its own inside that network, so that nothing of it is left
when it ends; each pod has a network namespace with an address there. Nothing of it is seen outside.
"""

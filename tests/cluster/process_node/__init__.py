"""A node that runs its pods as processes of this machine: a kubelet's face before `local/process`.

The node lives in a process and a network namespace of its own, so that nothing of it is left when it ends and
no address of its network is seen outside. Each pod has an address there. `gate` stays outside and carries
connections over Unix sockets: the node's and its pods' to the API server, the API server's to the node.
"""

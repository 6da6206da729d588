"""What JobSet 0.12 and the Job controller of Kubernetes 1.35 did with small inputs, and whether we do it too.

`cases/` is data: a JobSet, a script of what happens to it, and a record of the real controllers, step by
step. `answer` plays the script to our rules in virtual time, with pods that end as the script says;
`compare` finds the paths on which the two differ.
"""

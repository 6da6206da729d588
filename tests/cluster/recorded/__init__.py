"""Plays the scripts of tests/conformance_jobset to the real controllers, with pods played by hand.

`hand` is the kubelet: it binds pods, lets them run and end as the script says. `script` plays a case. `view`
tells what there is, in the form of the recorded cases.
"""

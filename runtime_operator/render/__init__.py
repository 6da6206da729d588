"""TrainJob and runtime to Plan: the objects of a cluster, and the reason of each decision. Pure."""

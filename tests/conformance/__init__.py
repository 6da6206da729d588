"""What Kubeflow Trainer 2.3 answers to small inputs, and whether we answer the same.

`cases/` is data: an input and the objects, errors or status that upstream's own code made of it.
`answer` makes our answer from the input alone, `compare` finds the paths on which two answers differ.
"""

"""What the Training Operator 1.9.3 did with jobs of kubeflow.org/v1, and whether we do the same.

`cases/` is data: a job, a script of what happens to its pods, and what a user saw after each step. `answer`
makes our answer from the input and the script alone: the Plan's JobSet lives by the rules of the JobSet and
Job controllers (`local.semantics`), and our pure rules judge. `compare` finds the paths on which two answers
differ.
"""

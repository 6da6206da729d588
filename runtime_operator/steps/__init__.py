"""What the components do: each body in `components/` calls one function here, and the code is in the image.

Every byte of a component's body stands many times in the finished Workflow of a run, so a body only hands
its arguments on, in their order: each name once. A step reads and writes paths, fills the outputs that it was
given, and ends with one sentence.
"""

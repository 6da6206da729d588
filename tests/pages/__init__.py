"""The pages of this project as tests read them: their blocks, what may stand in one, and how they are run."""

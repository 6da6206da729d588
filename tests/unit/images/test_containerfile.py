"""What a Containerfile says: its stages, its variables, and what is refused."""

import pytest

from tests.images.containerfile import Config, parse

TEXT = """
# a comment
ARG BASE=debian
FROM ${BASE} AS build
RUN first \\
 && second
# between the lines of one
COPY --from=x a /b/
FROM build
ENV A=1 B="two words" \\
    C=3
"""


def test_stages_and_their_instructions() -> None:
    first, second = parse(TEXT)
    assert (first.base, first.name, second.base, second.name) == ("debian", "build", "build", "")
    keywords = [keyword for keyword, _ in first.instructions]
    assert keywords == ["RUN", "COPY"]
    assert first.instructions[0][1].split() == ["first", "&&", "second"]


def test_an_argument_takes_the_place_of_a_default() -> None:
    assert parse(TEXT, {"BASE": "mine"})[0].base == "mine"


def test_values_keep_their_blanks() -> None:
    ((keyword, words),) = parse(TEXT)[1].instructions
    assert {"A": "1", "B": "two words", "C": "3"}.items() <= Config().changed(keyword, words).env.items()


def test_a_new_entrypoint_forgets_the_command() -> None:
    told = Config().changed("CMD", '["a"]').changed("ENTRYPOINT", '["b"]')
    assert (told.entrypoint, told.command) == (("b",), ())


@pytest.mark.parametrize(
    ("keyword", "words"),
    [("VOLUME", "/x"), ("HEALTHCHECK", "NONE"), ("ENV", "OLD form"), ("ADD", "a b")],
)
def test_what_is_not_of_the_subset_is_refused(keyword: str, words: str) -> None:
    with pytest.raises(ValueError, match="not "):
        Config().changed(keyword, words)


def test_a_variable_that_nobody_set_is_refused() -> None:
    with pytest.raises(KeyError, match="NOWHERE"):
        parse("FROM ${NOWHERE}")

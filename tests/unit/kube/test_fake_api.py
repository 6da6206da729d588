"""The API server in memory keeps what API servers promise; tests/cluster asks a real one the same."""

import pytest

from tests.fake_api import FakeApi
from tests.fake_api.contract import CONTRACT, JOBS
from tests.virtual_time import run_virtually


@pytest.mark.parametrize("sentence", CONTRACT)
def test_the_fake_one_keeps_it(sentence: str) -> None:
    async def main() -> None:
        play, expected = CONTRACT[sentence]
        assert await play(FakeApi(JOBS).transport(), "default") == expected

    run_virtually(main())

"""What pages show is what happens: their marked blocks run here, and print what the page says.

The variable TOY names the folder of a small model, to be put in the place of a real one.
"""

from pathlib import Path

import pytest

from tests.pages.blocks import ROOT, PageError, pages
from tests.pages.running import run_page, runs
from tests.tiny_base import tiny_base

LIMIT = 1800.0
MARKED = [page for page in pages() if runs(page)]


@pytest.mark.parametrize("page", MARKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, limit=LIMIT, environment={"TOY": str(tiny_base())})


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text)
    return page


def test_blocks_share_a_shell_and_its_folder(tmp_path: Path) -> None:
    text = """
<!-- first: WORD=hello; mkdir sub -->
<!-- file: rows.txt -->
```text
1 row
```
<!-- run: somewhere => sub -->
```sh
cd somewhere
echo "$WORD 17 of 20 in $(cat ../rows.txt)" # to be seen
```
<!-- prints -->
```text
hello 3 of 4 in … row
```
<!-- run -->
```python
import os
assert os.path.basename(os.getcwd()) == "sub"
```
"""
    run_page(page_of(tmp_path, text), tmp_path, limit=60)


def test_a_block_that_fails_is_named(tmp_path: Path) -> None:
    text = "<!-- run -->\n```sh\necho ok\n```\n\n<!-- run -->\n```sh\nfalse\n```\n"
    with pytest.raises(PageError, match=r"page\.md:7: ended with 1"):
        run_page(page_of(tmp_path, text), tmp_path, limit=60)


def test_another_output_is_told(tmp_path: Path) -> None:
    text = "<!-- run -->\n```sh\necho four legs\n```\n<!-- prints -->\n```text\ntwo legs\n```\n"
    with pytest.raises(PageError, match="'two legs' was not printed"):
        run_page(page_of(tmp_path, text), tmp_path, limit=60)


def test_a_replacement_that_replaces_nothing_is_told(tmp_path: Path) -> None:
    text = "<!-- run: model => demo -->\n```sh\necho x\n```\n"
    with pytest.raises(PageError, match="OLD => NEW"):
        run_page(page_of(tmp_path, text), tmp_path, limit=60)

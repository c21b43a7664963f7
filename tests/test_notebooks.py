"""The notebooks of the documentation run, and show what they show."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))

pytestmark = [
    pytest.mark.slow,  # a kernel starts for each
    pytest.mark.filterwarnings("default"),  # the kernel's packages warn of one another
]


def shown(notebook):
    """What each cell of code shows: text and HTML as they are, of pictures only that there is one.

    Another matplotlib draws the same picture with other bytes.
    """
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        outputs = []
        for output in cell.outputs:
            data = output.get("data", {"text": output.get("text")})
            outputs.append({k: None if k.startswith("image/") else v for k, v in data.items()})
        yield cell.source, outputs


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_shows(path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason='needs pip install ".[docs]"')
    nbclient = pytest.importorskip("nbclient", reason='needs pip install ".[docs]"')
    pytest.importorskip("ipykernel", reason='needs pip install ".[docs]"')
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    monkeypatch.setenv("PYTHONPATH", str(path.parents[2]))
    stored, again = (nbformat.read(path, as_version=4) for _ in range(2))
    nbformat.validate(stored)
    nbclient.NotebookClient(again, timeout=900, kernel_name="python3").execute()
    found = list(shown(stored))
    assert found == list(shown(again))
    assert all(cell.execution_count for cell in stored.cells if cell.cell_type == "code")
    assert sum(bool(outputs) for _, outputs in found) >= 5
    assert str(path.parents[2]) not in path.read_text()

from scripts import triton_names
from scripts.stack import ROOT


def test_the_editor_completes_the_names_of_the_triton_that_is_installed() -> None:
    kept = (ROOT / "frontend" / "static" / "triton-names.js").read_text(encoding="utf-8")
    assert kept == triton_names.as_script(triton_names.names()), (
        "run: python -m scripts.triton_names > frontend/static/triton-names.js"
    )


def test_parameters_are_those_that_a_kernel_can_give() -> None:
    names = triton_names.names()
    assert names["tl"]["load"].startswith("(pointer, mask=None")
    assert "_semantic" not in str(names)
    assert names["tl"]["float16"] == ""

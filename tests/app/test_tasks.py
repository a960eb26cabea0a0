from app.tasks import signature
from kernels.contract import Case, Cost, DType, Parameter, Task


def test_a_signature_says_where_results_go() -> None:
    task = Task(
        name="scaled",
        title="Scaled",
        summary="A scaled copy.",
        inputs=(Parameter(name="x", shape=("M", "N")), Parameter(name="scale", value=0.5)),
        outputs=(Parameter(name="y", shape=("M", "N")),),
        cases=(
            Case(name="only", kind="benchmark", values={"M": 1, "N": 2, "dtype": DType("float32")}),
        ),
        cost=Cost(bytes="M*N"),
    )
    assert signature(task) == "solve(x[M, N], scale) -> y[M, N]"
    passed = task.model_copy(update={"style": "out"})
    assert signature(passed) == "solve(x[M, N], scale, out y[M, N])"

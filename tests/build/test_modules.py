"""Modules whose weights come later: drawn at random, or without values, until they are set."""

from tests.build.builds import names, plan_of

MODULE = """
class Copying(torch.nn.Linear):
    def forward(self, x):
        return run(self.weight, torch.empty_like(x)) if x.dim() else x

def solve(x):
    weights = {"weight": x.view(10, 10), "bias": x[:10]}
"""


def test_random_weights_may_be_written_over() -> None:
    case = plan_of(f"""{MODULE}
    layer = Copying(10, 10, device="cuda")
    layer.load_state_dict(weights)
    y = layer(x)
    torch.nn.init.xavier_normal_(layer.weight)
    layer.weight = torch.nn.Parameter(y.view(10, 10))
    unused = torch.randn(100, device="cuda").half()
    return layer(x)
""")
    assert names(case) == ["aten.copy_.default", "aten.copy_.default", "launch", "launch"]
    assert case.notes == ()


def test_the_meta_device_gives_shapes_that_are_no_steps() -> None:
    case = plan_of(f"""{MODULE}
    with torch.device("meta"):
        layer = Copying(10, 10)
    shape = layer.weight + 1
    assert shape.is_meta and str(shape.device) == "meta" and not shape.is_cuda and not shape.is_cpu
    assert x.to("meta").is_meta and x.new_ones(3, device="meta").is_meta and x.is_cuda
    assert torch.tensor([1.0], device="meta").is_meta and "meta" in repr(shape)
    assert torch.tensor(x, device="meta").is_meta and x.is_cuda
    layer.weight.data.copy_(x.view(10, 10))
    assert layer.weight.is_meta
    layer.to(torch.float16).to_empty(device="cuda").to(torch.float32).load_state_dict(weights)
    y = layer(x)
    other = Copying(10, 10, device="meta")
    other.load_state_dict(weights, assign=True)
    return other(layer(x))
""")
    steps = names(case)
    assert steps[-5:] == ["aten.copy_.default", "aten.copy_.default", *["launch"] * 3]
    assert set(steps[:-5]) == {"aten._to_copy.default"}

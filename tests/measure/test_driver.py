"""What needs the driver's bindings but no GPU."""

import pytest

from kernels.contract import Kernel, Resources

cuda = pytest.importorskip("cuda.bindings.driver")


def attributes(**changes: object) -> dict[object, object]:
    from workers.measure.driver import _attributes

    resources = Resources(
        registers=32,
        stack_bytes=0,
        spill_store_bytes=None,
        spill_load_bytes=None,
        shared_bytes=0,
        static_shared_bytes=0,
    )
    kernel = Kernel.model_validate(
        {
            "symbol": "f",
            "function": "f",
            "warps": 4,
            "stages": 1,
            "resources": resources,
            **changes,
        }
    )
    return {attribute.id: attribute.value for attribute in _attributes(kernel)}


def test_a_plain_kernel_is_launched_plainly() -> None:
    assert attributes() == {}


def test_clusters_cooperative_and_dependent_launches_say_so() -> None:
    names = cuda.CUlaunchAttributeID
    found = attributes(ctas=4, cooperative=True, dependent=True)
    cluster = found[names.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION]
    assert (cluster.clusterDim.x, cluster.clusterDim.y, cluster.clusterDim.z) == (4, 1, 1)  # type: ignore[attr-defined]
    assert found[names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE].cooperative == 1  # type: ignore[attr-defined]
    name = names.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert found[name].programmaticStreamSerializationAllowed == 1  # type: ignore[attr-defined]
    assert len(found) == 4

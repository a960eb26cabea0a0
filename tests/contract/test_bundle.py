"""Bundles and frames as hostile input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.contract import Bundle, PlanRefused, frame
from kernels.contract.wire import AnswerRefused, BuildAnswer
from tests.contract import examples as a


def test_a_bundle_survives_packing() -> None:
    bundle = a.bundle()
    again = Bundle.unpack(bundle.pack())
    assert again == bundle
    assert again.pack() == bundle.pack()


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(PlanRefused):
        Bundle.unpack(data)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_no_changed_byte_raises_anything_else(position: int, value: int) -> None:
    data = bytearray(a.bundle().pack())
    data[position % len(data)] = value
    try:
        Bundle.unpack(bytes(data))
    except PlanRefused:
        return
    assert a.SHA in Bundle.unpack(bytes(data)).blobs


@given(st.integers(0, 10_000))
def test_no_cut_is_accepted(length: int) -> None:
    data = a.bundle().pack()
    with pytest.raises(PlanRefused):
        Bundle.unpack(data[: length % len(data)])


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"plan": NaN}', '{"a":' * 10_000, "null", "", '{"plan": {}, "blobs": []}'],
)
def test_json_that_is_no_plan(text: str) -> None:
    with pytest.raises(PlanRefused):
        Bundle.unpack(frame.pack(text))


def test_a_blob_must_have_the_content_its_name_says() -> None:
    header, _ = frame.unpack(a.bundle().pack())
    with pytest.raises(PlanRefused, match="content its name says"):
        Bundle.unpack(frame.pack(header.decode(), [b"another cubin"]))


def test_a_plan_must_bring_its_blobs() -> None:
    with pytest.raises(PlanRefused, match="lacks blob"):
        Bundle.unpack(Bundle(plan=a.plan(), blobs={}).pack())


def test_blobs_must_be_named_one_by_one() -> None:
    header, blobs = frame.unpack(a.bundle().pack())
    with pytest.raises(PlanRefused, match="one by one"):
        Bundle.unpack(frame.pack(header.decode(), [*blobs, b"more"]))


def test_a_frame_may_not_claim_too_much() -> None:
    data = bytearray(frame.pack("{}"))
    data[14:18] = (2**32 - 1).to_bytes(4, "little")
    with pytest.raises(frame.FrameRefused, match="too much"):
        frame.unpack(bytes(data))


def test_messages_survive_framing() -> None:
    answer, blobs = BuildAnswer.unpack(BuildAnswer().pack((b"plan",)))
    assert answer == BuildAnswer()
    assert blobs == [b"plan"]


@given(st.binary(max_size=100))
def test_hostile_answers_are_refused(data: bytes) -> None:
    with pytest.raises(AnswerRefused):
        BuildAnswer.unpack(data)
    with pytest.raises(AnswerRefused):
        BuildAnswer.unpack(frame.pack('{"failure": 3}', [data]))

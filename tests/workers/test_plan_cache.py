"""The plan cache on a real Redis: equal submissions find their plan, damaged ones find nothing."""

from typing import Any, Literal

import pytest
import redis

from kernels.contract import Bundle, DeviceName, InstructionMix, Submission
from kernels.contract.wire import Rebuilt
from tests.build.builds import COPY, COPYING, built
from workers import plan_cache
from workers.building import Built, worth_keeping
from workers.plan_cache import CachedPlan, PlanCache, ReviewCache, key
from workers.rebuilding import Provenance, Review

SOURCE = COPY + "def solve(x):\n    return run(x, torch.empty_like(x))\n"
SUBMISSION = Submission(
    id="s1", attempt=1, task=COPYING.name, task_version=1, device=DeviceName.H200,
    measured=False, entry="solve", source=SOURCE,
)  # fmt: skip


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return built(SOURCE, COPYING)


def cache(connection: redis.Redis, **changes: Any) -> PlanCache:
    return PlanCache(connection, SUBMISSION.model_copy(update=changes), COPYING)


def test_an_equal_submission_finds_the_plan(connection: redis.Redis, bundle: Bundle) -> None:
    assert cache(connection).get() is None
    cache(connection).put(CachedPlan(bundle, "printed"))
    assert cache(connection, id="s2", attempt=3).get() == CachedPlan(bundle, "printed")
    assert cache(connection, source=SOURCE + "\n").get() is None


@pytest.mark.parametrize(
    "change", [{"source": "x = 2\n"}, {"entry": "other"}, {"device": DeviceName.H100}]
)
def test_everything_a_plan_follows_from_is_in_its_key(change: dict[str, Any]) -> None:
    assert key(SUBMISSION.model_copy(update=change), COPYING) != key(SUBMISSION, COPYING)
    newer = COPYING.model_copy(update={"version": 2})
    assert key(SUBMISSION, newer) != key(SUBMISSION, COPYING)


def test_what_lies_in_the_cache_is_checked_again(connection: redis.Redis, bundle: Bundle) -> None:
    cache(connection).put(CachedPlan(bundle, ""))
    (name,) = connection.keys("plan:*")
    data = connection.get(name)
    assert isinstance(data, bytes)
    for damaged in (b"", data[:-1], data[:200] + b"\0" + data[201:], data.replace(b"ELF", b"FLE")):
        connection.set(name, damaged)
        assert cache(connection).get() is None
        assert not connection.exists(name)


def test_a_plan_of_another_device_is_not_taken(connection: redis.Redis, bundle: Bundle) -> None:
    cache(connection, device=DeviceName.H100).put(CachedPlan(bundle, ""))
    assert cache(connection, device=DeviceName.H100).get() is None


def test_the_oldest_plans_make_room(
    connection: redis.Redis, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_cache, "ENTRIES", 2)
    for number in range(4):
        cache(connection, source=f"{SOURCE}# {number}\n").put(CachedPlan(bundle, ""))
    kept = [cache(connection, source=f"{SOURCE}# {n}\n").get() is not None for n in range(4)]
    assert kept == [False, False, True, True]
    assert connection.zcard("plans") == 2


def test_a_review_is_found_by_what_the_plan_does(connection: redis.Redis, bundle: Bundle) -> None:
    (sha,) = bundle.plan.kernels
    mix = InstructionMix(total=1, wgmma=0, mma=0, tma=0, async_copies=0, local=0, special=0)
    kernels = {sha: Rebuilt(cubin=sha, mix=mix), "0" * 64: Rebuilt(cubin="0" * 64)}
    review = Review(Provenance(outcome="identical", reason="why", kernels=kernels), {sha: b"sass"})
    assert ReviewCache(connection, bundle.plan).get() is None
    ReviewCache(connection, bundle.plan).put(review)
    told = bundle.with_texts("sass", review.sass).plan
    assert ReviewCache(connection, told).get() == review
    other = bundle.plan.model_copy(update={"cases": ()})
    assert ReviewCache(connection, other).get() is None


@pytest.mark.parametrize("outcome", ["different", "not rebuilt"])
def test_a_plan_is_not_condemned_from_the_cache(
    connection: redis.Redis, bundle: Bundle, outcome: Literal["different", "not rebuilt"]
) -> None:
    review = Review(Provenance(outcome=outcome, reason="why"), {})
    ReviewCache(connection, bundle.plan).put(review)
    assert ReviewCache(connection, bundle.plan).get() is None


def test_a_plan_that_was_built_in_a_hurry_is_not_kept() -> None:
    budget = COPYING.limits.build
    assert worth_keeping(Built(None, None, "", budget, processor_seconds=1.0), COPYING)
    assert not worth_keeping(Built(None, None, "", budget, processor_seconds=budget / 2), COPYING)

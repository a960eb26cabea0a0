"""What the service functions promise beyond what the API tests show."""

import pytest

from app.errors import Conflict, NotFound, TooManyRequests, Unavailable
from app.main import Parts, assemble
from app.schemas import SubmissionFilter, SubmitRequest
from app.settings import Settings
from kernels.catalog import Catalog
from kernels.contract import DeviceName
from tests.app.judging import beat, consume, judge, payload, publisher, report, submit


def test_task_details_hold_what_the_catalogue_has(parts: Parts, catalog: Catalog) -> None:
    summary = {task.name for task in parts.service.list_tasks()}
    assert summary == set(catalog)
    for name, folder in catalog.items():
        detail = parts.service.task_detail(name)
        assert detail.statement == folder.statement
        assert detail.starter == folder.starter
        assert detail.signature.startswith(f"{folder.task.entry}(")
        shown = {case.name for case in detail.cases}
        assert shown == {case.name for case in folder.task.cases if not case.hidden}
        assert len(shown) + detail.hidden_cases == len(folder.task.cases)
        assert detail.devices[0] is DeviceName.H200
    with pytest.raises(NotFound):
        parts.service.task_detail("nothing")


def test_the_default_device_is_one_that_is_measured_on(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H100")
    assert parts.service.task_detail("softmax").devices[0] is DeviceName.H100
    detail = submit(parts)
    assert (detail.device, detail.measured) == (DeviceName.H100, True)


def test_a_check_takes_no_turn_at_the_gpu(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H100")
    check = SubmitRequest(task="softmax", source="x = 1", check_only=True)
    submitted = parts.service.submit(check, idempotency_key="once").submission
    assert not submitted.measured
    with pytest.raises(Conflict):
        parts.service.submit(check.model_copy(update={"check_only": False}), idempotency_key="once")


def test_the_position_counts_those_ahead(parts: Parts) -> None:
    names = [submit(parts).id for _ in range(3)]
    assert [parts.service.submission_detail(name).position for name in names] == [1, 2, 3]
    publisher(parts, names[0]).stage("building", "compiling")
    consume(parts)
    assert [parts.service.submission_detail(name).position for name in names] == [None, 1, 2]


def test_one_user_cannot_fill_the_queue(settings: Settings, catalog: Catalog) -> None:
    tight = Settings(data_dir=settings.data_dir, user_waiting_limit=2, waiting_limit=3)
    parts = assemble(tight, catalog)
    assert parts.embedded is not None
    parts.embedded.ensure()
    parts.store.migrate()
    first = submit(parts, "ada").id
    submit(parts, "ada")
    with pytest.raises(TooManyRequests) as refused:
        submit(parts, "ada")
    assert refused.value.retry_after
    submit(parts, "bob")
    with pytest.raises(Unavailable):
        submit(parts, "cyd")
    publisher(parts, first).report(report(payload(parts, first)))
    consume(parts)
    submit(parts, "ada")
    parts.embedded.stop()
    parts.store.close()


def test_lists_are_filtered_by_user(parts: Parts) -> None:
    judge(parts, "ada", 10)
    mine = judge(parts, "bob", 10)
    page = parts.service.list_submissions(SubmissionFilter(user="bob"))
    assert [item.id for item in page.items] == [mine.id]

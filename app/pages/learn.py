"""The course, and the Hopper GPU with the numbers that the roofline uses."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.errors import Invalid, NotFound
from app.overview import Card, cards, device_of
from app.pages.access import CurrentService
from app.pages.hopper import KERNEL_RATES, Estimate, anatomy_of, estimate
from app.pages.rendering import render
from kernels.contract import DEVICES, DeviceName, Track

router = APIRouter()


@router.get("/learn")
def show_course(request: Request, service: CurrentService) -> Response:
    """The courses with what each task teaches, and how far the caller has come."""
    found, tracks = cards(service, device_of(service)), service.tracks()
    return render(
        request,
        "learn.html",
        tracks=tracks,
        cards=found,
        following={track.name: _following(track, found) for track in tracks},
        solved={track.name: _solved(track, found) for track in tracks},
    )


@router.get("/learn/hopper")
def show_hopper(
    request: Request,
    service: CurrentService,
    device: str | None = None,
    flops: str = "",
    bytes: str = "",
    rate: str = "tensor16",
) -> Response:
    """Memories and units of the GPU; `flops`, `bytes` and `rate` ask what bounds a kernel."""
    name = _device(device) or device_of(service)
    gpu = DEVICES[name]
    asked = _estimate(name, flops, bytes, rate) if flops or bytes else None
    return render(
        request,
        "hopper.html",
        gpu=gpu,
        anatomy=anatomy_of(gpu),
        ceilings=service.health().ceilings.get(name),
        devices=tuple(DeviceName),
        rates=KERNEL_RATES,
        asked=asked,
        fields={"flops": flops, "bytes": bytes, "rate": rate},
    )


def _following(track: Track, found: dict[str, Card]) -> str | None:
    """The first task of a course that is not solved."""
    left = (name for name in track.tasks if name in found and found[name].state != "solved")
    return next(left, None)


def _solved(track: Track, found: dict[str, Card]) -> int:
    return sum(name in found and found[name].state == "solved" for name in track.tasks)


def _device(text: str | None) -> DeviceName | None:
    if not text:
        return None
    try:
        return DeviceName(text)
    except ValueError:
        known = ", ".join(DeviceName)
        raise NotFound(f"no device is called {text[:64]!r}", f"Choose one of {known}.") from None


def _estimate(device: DeviceName, flops: str, nbytes: str, rate: str) -> Estimate:
    chosen = next((known for known in KERNEL_RATES if known == rate), None)
    if chosen is None:
        raise Invalid("there is no such arithmetic", "Choose one that the page offers.")
    return estimate(DEVICES[device], _number(flops), _number(nbytes), chosen)


def _number(text: str) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1e18:
        raise Invalid(
            f"{text[:40]!r} is no number from 0 to 1e18", "Write it plainly or as 1.4e11."
        )
    return value

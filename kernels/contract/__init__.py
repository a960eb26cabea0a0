"""The vocabulary: tasks, plans, verdicts and reports as immutable values. Imports only pydantic."""

from kernels.contract.bundle import Bundle, PlanRefused
from kernels.contract.ceilings import Ceilings
from kernels.contract.compiler import InstructionMix, Occupancy, occupancy
from kernels.contract.device import DEVICES, Device, DeviceName
from kernels.contract.dtype import DType
from kernels.contract.event import (
    STREAM,
    BuiltEvent,
    Event,
    ReportEvent,
    StageEvent,
    bundle_key,
    job_id,
    lease_key,
)
from kernels.contract.harness import HARNESS_VERSION
from kernels.contract.plan import Buffer, CasePlan, Kernel, Plan, Relocation, Resources, Target
from kernels.contract.record import Record
from kernels.contract.report import (
    CaseResult,
    Diagnostic,
    Durations,
    Environment,
    Error,
    GpuSeconds,
    KernelReport,
    Mismatch,
    Report,
    Sensed,
    StepShare,
    Timing,
)
from kernels.contract.steps import (
    Alternative,
    Choice,
    Dropped,
    ElementType,
    FloatArgument,
    IntegerArgument,
    Launch,
    PointerArgument,
    Real,
    TensorMapArgument,
    TensorOp,
)
from kernels.contract.submission import Submission, check_source
from kernels.contract.task import (
    Case,
    Cost,
    Parameter,
    Permissions,
    Task,
    TimeLimits,
)
from kernels.contract.tensor import Distribution, Layout, NumberSpec, TensorSpec, Tolerance
from kernels.contract.track import Part, Step, Track
from kernels.contract.verdict import Stage, Verdict, strongest
from kernels.contract.view import View
from kernels.contract.worker import EXPIRY_SECONDS, HEARTBEAT_SECONDS, WorkerInfo, worker_key

__all__ = [
    "DEVICES",
    "EXPIRY_SECONDS",
    "HARNESS_VERSION",
    "HEARTBEAT_SECONDS",
    "STREAM",
    "Alternative",
    "Buffer",
    "BuiltEvent",
    "Bundle",
    "Case",
    "CasePlan",
    "CaseResult",
    "Ceilings",
    "Choice",
    "Cost",
    "DType",
    "Device",
    "DeviceName",
    "Diagnostic",
    "Distribution",
    "Dropped",
    "Durations",
    "ElementType",
    "Environment",
    "Error",
    "Event",
    "FloatArgument",
    "GpuSeconds",
    "InstructionMix",
    "IntegerArgument",
    "Kernel",
    "KernelReport",
    "Launch",
    "Layout",
    "Mismatch",
    "NumberSpec",
    "Occupancy",
    "Parameter",
    "Part",
    "Permissions",
    "Plan",
    "PlanRefused",
    "PointerArgument",
    "Real",
    "Record",
    "Relocation",
    "Report",
    "ReportEvent",
    "Resources",
    "Sensed",
    "Stage",
    "StageEvent",
    "Step",
    "StepShare",
    "Submission",
    "Target",
    "Task",
    "TensorMapArgument",
    "TensorOp",
    "TensorSpec",
    "TimeLimits",
    "Timing",
    "Tolerance",
    "Track",
    "Verdict",
    "View",
    "WorkerInfo",
    "bundle_key",
    "check_source",
    "job_id",
    "lease_key",
    "occupancy",
    "strongest",
    "worker_key",
]

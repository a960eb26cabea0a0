from workers.measure.sensors import Reading, Sensors, conditions


def test_readings_are_summed_up() -> None:
    readings = [Reading(1.9e9, 500, 0x1), Reading(1.5e9, 690, 0x4), Reading(1.6e9, 700, 0x20)]
    found = conditions(readings)
    assert (found.clock_hz, found.highest_clock_hz, found.power_watts) == (1.6e9, 1.9e9, 690)
    assert found.throttled == ("power cap", "thermal slowdown (software)")


def test_without_readings_nothing_is_claimed() -> None:
    found = conditions([])
    assert (found.clock_hz, found.power_watts, found.throttled) == (None, None, ())


def test_a_gpu_that_nvml_does_not_know_reads_nothing() -> None:
    sensors = Sensors("GPU-00000000-0000-0000-0000-000000000000")
    assert sensors.read() is None
    assert sensors.driver() is None

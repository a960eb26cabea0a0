from workers.measure.sensors import Reading, Sensors, Watch, conditions


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


def test_every_eighth_round_is_read_and_kept_with_its_number() -> None:
    answers = iter([Reading(1.98e9, 500, 0), None, Reading(1.7e9, 690, 0x4)])
    watch = Watch(lambda: next(answers))
    for _ in range(17):
        watch.after_round()
    assert [(one.round, one.clock_hz) for one in watch.sensed()] == [(0, 1.98e9), (16, 1.7e9)]
    assert conditions(watch.readings).throttled == ("power cap",)

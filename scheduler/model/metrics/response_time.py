"""Response time R (paper 000, eq. 5-8): the longest source-to-sink path, the one metric that is no sum."""

from __future__ import annotations

from scheduler.model.metrics.record import Metric

RESPONSE_TIME = Metric(name="response_time", answer="response_time_ms", unit="ms", proof=3)

"""This package turns large rounds into jobs and fleets of the packing planner, and its workers into slots."""

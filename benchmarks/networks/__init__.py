"""Benchmarks of path blocks: fleets, requests, schedules, rosters, flows and crews."""

"""Certificates: proofs that are written down, and a checker that imports nothing else."""

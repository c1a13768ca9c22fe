"""Certificates: proofs in files, and a checker that imports only the standard library."""

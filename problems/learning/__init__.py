"""What learning around the oracles is worth: figures beside independent programs, enumeration, other libraries."""

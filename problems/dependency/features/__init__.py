"""Features of dependency trees: vocabulary, factored scores, tuples, and training updates."""

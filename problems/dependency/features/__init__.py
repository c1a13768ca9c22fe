"""Features of dependency trees: vocabulary, scores by factors, tuples, updates of learning."""

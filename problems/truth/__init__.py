"""Whether what is called proved is so: the engine and every template held against enumeration, by the hundred thousand.

``python -m problems.truth`` looks for failures and writes each as a file that replays; ``colgen bench truth`` measures.
"""

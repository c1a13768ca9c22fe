"""The restricted master: its protocol, and the linear program that most of them are."""

"""The command ``colgen``: arguments, streams, descriptions of templates."""

"""Tools with which agents and people work on the data files of one directory, each call a process of its own."""

__version__ = "0.1.0"

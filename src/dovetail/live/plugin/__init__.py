"""The plug-in site_factor/dovetail: its C source, the table that it reads, and its build."""

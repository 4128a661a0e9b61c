"""Finished results as one HTML file. Computes nothing, and asks nothing of the network when it is read."""

from sapwood.report.page import Section, report_page

__all__ = ["Section", "report_page"]

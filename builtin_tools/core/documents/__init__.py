"""Documents for people: text and tables out of PDF, PDF out of Markdown."""

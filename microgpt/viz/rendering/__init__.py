"""From views to pages: Jinja, languages, numbers as text, styles, policies, and pages that carry all they need."""

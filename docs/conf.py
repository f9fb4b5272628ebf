"""The documentation site, by Sphinx: `make docs` builds it in .site; a broken link or a page without a place fails it.

The source is the root of the repository, so that links between pages are the same here and in the repository.
"""

project = "Anamnesis"
author = "the Anamnesis authors"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["docs/*.md", "README.md", "REPRODUCTION.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = [".*", "agent", "deploy", "evals", "graphs", "prompts", "tests", "tools"]
myst_heading_anchors = 4
html_theme = "furo"  # it asks nothing of the outside; tests/test_documentation.py holds that
html_title = "Anamnesis"
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None

"""`python -m anamnesis`: the command."""

from anamnesis import main

main()

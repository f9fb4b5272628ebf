"""The report on a case: diagnoses, explanation, treatment by discipline, further evaluations, questions (MedRAG)."""

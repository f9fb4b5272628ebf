"""ICD-10: the compiled table of codes, and entities from free-text diagnoses (METHODS: ICA-RAG's metric)."""

from tools.icd10.table import FORMAT, ICD10, Code, compile_icd10, is_current, load_icd10

__all__ = ["FORMAT", "ICD10", "Code", "compile_icd10", "is_current", "load_icd10"]

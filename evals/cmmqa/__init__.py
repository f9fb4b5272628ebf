"""CMMQA made anew: cancer questions of HealthSearchQA and MIRAGE told as clinical narratives (CoMeta)."""

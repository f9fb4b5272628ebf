"""Files of open sources as their publishers write them, made up: medicines and diseases of no real name."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

TEXTS = {
    "indications_and_usage": "1 INDICATIONS AND USAGE {name} is indicated for kelvar fever in adults.",
    "dosage_and_administration": "2 DOSAGE AND ADMINISTRATION Take {name} 40 mg by mouth once a day with water.",
    "contraindications": "4 CONTRAINDICATIONS {name} is contraindicated in patients with dorvan syndrome.",
    "drug_interactions": "7 DRUG INTERACTIONS Warfarin: {name} raises its effect; check the INR.",
    "use_in_specific_populations": "8 USE IN SPECIFIC POPULATIONS 8.1 Pregnancy Not studied. "
    "8.4 Pediatric Use Not for children. "
    "8.6 Renal Impairment Halve the dose of {name} below an eGFR of 30. 8.7 Hepatic Impairment No change is needed.",
    "pregnancy": "8.1 Pregnancy {name} was not studied in pregnant women.",
    "description": "11 DESCRIPTION A white powder.",
}


def label(name: str = "Zelnorine", **more: Any) -> dict[str, Any]:
    """A record as openFDA's service gives it."""
    number = more.pop("number", 1)
    row: dict[str, Any] = {field: [text.format(name=name)] for field, text in TEXTS.items()}
    row |= {
        "set_id": f"00000000-0000-0000-0000-{number:012}",
        "version": "3",
        "effective_time": "20240131",
        "openfda": {
            "generic_name": [name.upper()],
            "brand_name": [name],
            "substance_name": [f"{name.upper()} HYDROCHLORIDE"],
            "route": ["ORAL"],
            "product_type": ["HUMAN PRESCRIPTION DRUG"],
            "manufacturer_name": ["Made Up Inc."],
        },
    }
    return row | more


def answer(*rows: Mapping[str, Any]) -> str:
    """An answer of the service, or a bulk file."""
    return json.dumps({"meta": {"disclaimer": "Do not rely on it.", "results": {"total": len(rows)}}, "results": rows})


def extract(name: str = "Zelnorine") -> dict[str, Any]:
    """A label as published extracts hold it: texts, and openFDA's identifiers beside them."""
    row = label(name)
    sections = {field: row[field][0] for field in ("indications_and_usage", "contraindications")}
    return {"drug_name": name, "drug_id": 7, "sections": sections, "openfda_meta": row["openfda"]}


def spl_section(code: str, title: str, text: str = "", inside: str = "") -> str:
    """A section of SPL, with a highlight that says its text another time."""
    highlight = f"<excerpt><highlight><text><paragraph>Short: {escape(text)}</paragraph></text></highlight></excerpt>"
    body = f"<text><paragraph>{escape(text)}</paragraph></text>{highlight}" if text else ""
    coded = f'<code code="{code}" codeSystem="2.16.840.1.113883.6.1"/>'
    return f"<component><section>{coded}<title>{escape(title)}</title>{body}{inside}</section></component>"


def spl(name: str = "Zelnorine", sections: str = "") -> str:
    """A label in SPL XML."""
    kidney = spl_section("42229-5", "8.6 Renal Impairment", f"Halve the dose of {name}.")
    pregnancy = spl_section("42228-7", "4.1 Pregnancy", f"Never give {name} in pregnancy.")
    sections = sections or "".join(
        (
            spl_section("34089-3", "11 DESCRIPTION", "A white powder."),
            spl_section("34067-9", "1 INDICATIONS", f"{name} is indicated for kelvar fever."),
            spl_section(
                "34070-3", "4 CONTRAINDICATIONS", inside=pregnancy + spl_section("42229-5", "4.2 Dorvan syndrome")
            ),
            spl_section("43684-0", "8 USE IN SPECIFIC POPULATIONS", inside=kidney),
        )
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?><document xmlns="urn:hl7-org:v3">
<code code="34391-3" displayName="HUMAN PRESCRIPTION DRUG LABEL"/><title/><effectiveTime value="20230405"/>
<setId root="11111111-0000-0000-0000-000000000001"/><versionNumber value="2"/>
<author><assignedEntity><representedOrganization><name>Made Up Inc.</name></representedOrganization></assignedEntity>
</author><component><structuredBody><component><section><code code="48780-1"/><subject><manufacturedProduct>
<manufacturedProduct><name>{name}</name><asEntityWithGeneric><genericMedicine><name>{name}</name></genericMedicine>
</asEntityWithGeneric><ingredient classCode="ACTIB"><ingredientSubstance><name>{name.upper()} HYDROCHLORIDE</name>
</ingredientSubstance></ingredient><ingredient classCode="IACT"><ingredientSubstance><name>STARCH</name>
</ingredientSubstance></ingredient></manufacturedProduct><consumedIn><substanceAdministration>
<routeCode displayName="ORAL"/></substanceAdministration></consumedIn></manufacturedProduct></subject></section>
</component>{sections}</structuredBody></component></document>"""


def bundle(name: str = "Zelnorine") -> dict[str, Any]:
    """A label as a FHIR bundle."""

    def section(code: str, title: str, text: str = "", *inner: Any) -> dict[str, Any]:
        told = {"text": {"div": f'<div xmlns="http://www.w3.org/1999/xhtml"><p>{text}</p></div>'}} if text else {}
        return {"title": title, "code": {"coding": [{"code": code}]}, **told, "section": list(inner)}

    kidney = section("42229-5", "8.6 Renal<br/>Impairment", f"Halve the dose of {name}.")
    composition = {
        "resourceType": "Composition",
        "id": "Label",
        "identifier": [{"value": "urn:uuid:22222222-0000-0000-0000-000000000001"}],
        "version": "4",
        "date": "2022-02-03",
        "type": {"coding": [{"display": "HUMAN PRESCRIPTION DRUG LABEL"}]},
        "section": [
            section("34089-3", "DESCRIPTION", "A white powder."),
            section("34067-9", "INDICATIONS", f"{name} is indicated for kelvar fever."),
            section("43684-0", "POPULATIONS", "", kidney),
        ],
    }
    active = {"code": {"reference": {"reference": "SubstanceDefinition/One"}}}
    resources = [
        composition,
        {"resourceType": "Organization", "name": "Made Up Inc."},
        {"resourceType": "Ingredient", "role": {"coding": [{"code": "ACTIB"}]}, "substance": active},
        {"resourceType": "Ingredient", "role": {"coding": [{"code": "IACT"}]}, "substance": {"code": {"concept": {}}}},
        {"resourceType": "SubstanceDefinition", "id": "One", "name": [{"name": name.upper()}]},
    ]
    return {"resourceType": "Bundle", "entry": [{"resource": resource} for resource in resources]}


def topics() -> str:
    """MedlinePlus topics: an English one, its Spanish twin, and one without a summary."""
    summary = "<p>Kelvar fever is <b>common</b>.</p><ul><li>Drink water</li><li>See a doctor after a week</li></ul>"
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE health-topics PUBLIC "-//NLM//DTD health-topics //EN" "https://medlineplus.gov/xml/mplus_topics.dtd">
<health-topics total="3" date-generated="08/10/2024 02:30:32">
<health-topic title="Kelvar Fever" url="https://medlineplus.gov/kelvarfever.html" id="77" language="English"
 date-created="01/07/2003" meta-desc="Short."><also-called>Kelvar disease</also-called>
<full-summary>{escape(summary)}</full-summary><site title="Elsewhere" url="http://example.org"/></health-topic>
<health-topic title="Fiebre" id="78" language="Spanish"><full-summary>{escape(summary)}</full-summary></health-topic>
<health-topic title="Bare" id="79" language="English"><full-summary/></health-topic>
</health-topics>"""


def medquad(answer: str = "Kelvar fever is a fever.\n\n   It passes in a week.") -> str:
    """A document of MedQuAD."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Document id="0000005" source="NIDDK" url="http://example.org/kelvar"><Focus>Kelvar fever</Focus><QAPairs>
<QAPair pid="1"><Question qid="0000005-1" qtype="information">What is kelvar fever ?</Question>
<Answer>{escape(answer)}</Answer></QAPair></QAPairs></Document>"""


def chapter() -> str:
    """A chapter as the tags of NCBI's books have it."""
    return """<?xml version="1.0"?><book-part-wrapper><book-part book-part-type="chapter"><book-part-meta>
<title-group><title>Zelnorine</title></title-group><pub-history><date date-type="updated"><month>7</month>
<year>2017</year></date></pub-history></book-part-meta><body><sec id="x.Hepatotoxicity"><title>Hepatotoxicity</title>
<p>Enzymes rise in 2% of patients.</p><p>Likelihood score: C (probable cause of liver injury).</p></sec></body>
</book-part></book-part-wrapper>"""


def guideline(released: str = "2009 May (revised 2014)", status: str = "This is the current release.") -> str:
    """A summary of the clearinghouse."""
    fields = {
        "Guideline Title": '<div class="content_title">Management of kelvar fever.</div>',
        "Guideline Status": f"<p>{status}</p>",
        "Major Recommendations": "<p>Clinicians should give zelnorine to adults. [B]</p>"
        "<ul><li>Not to infants. [D]</li></ul>",
        "Rating Scheme for the Strength of the Recommendations": "<p>B: moderate benefit. D: harm.</p>",
        "Potential Harms": "<p>Not stated</p>",
        "Date Released": f"<p>{released}</p>",
        "Guideline Developer(s)": "<p>Board of Fevers - Federal Government Agency [U.S.]</p>",
        "Copyright Statement": "<p>No copyright restrictions apply.</p>",
        "Disclaimer": "<p>Not this.</p>",
    }
    inside = "".join(
        f"<Field Name={quoteattr(n)}><FieldValue Value={quoteattr(v)} /></Field>" for n, v in fields.items()
    )
    return f'<Version><xmlSource>ECRI</xmlSource><Section Name="General">{inside}</Section></Version>'


DISORDER = """name: Kelvar Fever
updated_date: "2026-03-06T06:20:00Z"
description: A fever of adults.
disease_term: {term: {id: "MONDO:0000001", label: kelvar fever}}
phenotypes:
  - name: Rash
    frequency: VERY_FREQUENT
    description: A rash of the arms
    evidence:
      - {reference: "PMID:101", supports: SUPPORT, snippet: "All patients had a rash."}
      - {reference: "PMID:102", supports: REFUTE, snippet: "No patient had a rash."}
datasets:
  - name: Cells
    description: Sequences of cells.
"""
OBO = """format-version: 1.2
data-version: doid/releases/2026-07-31/doid.obo

[Term]
id: DOID:1
name: kelvar fever
def: "A viral infectious disease that has_symptom rash, and \\"spots\\"." [url:http\\://example.org]
synonym: "kelvar disease" EXACT []
synonym: "fever" BROAD []
xref: ICD10CM:A99
xref: SNOMEDCT_US_2025_09_01:1
is_a: DOID:2 ! viral infectious disease

[Term]
id: DOID:3
name: obsolete fever
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """A zip archive of some files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
